"""Loaded by every Python of a run that obeys orders, modules included; see ``run_orders.py`` beside it."""

import run_orders  # type: ignore[import-not-found]  # it stands beside this file, which is on the path

run_orders.install()

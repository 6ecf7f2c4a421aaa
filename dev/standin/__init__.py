"""A stand-in for Operator SDK's Ansible runtime (``ansible-operator run``), for development only.

It is used where the real binary is not on PATH. It reads the same ``watches.yaml``, starts the same
``ansible-runner run`` and treats what a playbook does as the real runtime does. What it leaves out:

* reads go to the API server live; the real proxy answers them from informers (which need ``list`` and
  ``watch`` rights and may be a moment old);
* no leader election, no webhooks, no exec or attach through the proxy, no ``selector`` in watches.yaml;
* ``manageStatus`` and ``snakeCaseParameters`` must be false.

The modules, in the order in which an object passes through them: ``watches`` (the file), ``informer`` (list
and watch), ``workqueue`` (what is due), ``controller`` (one object, one run), ``inputs`` (the run's
folder), ``runs`` and ``child`` (ansible-runner), ``outcome`` (what its events mean), ``proxy`` and
``dependents`` (what the playbook's requests go through, and what is watched because of them).

``playground`` and tests/integration/test_runtime_rules.py try the rules on whichever runtime is in use, so
that the two can be compared. Never run the stand-in in a cluster.
"""

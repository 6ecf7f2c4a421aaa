#!/bin/sh
# A deployment's way to a database that an old object has so far.
#
#   OLD=mariadbconsumer/NAME deploy-with-seed.sh NAMESPACE REQUEST MANIFEST [TIMEOUT]
#
# MANIFEST holds the seed secret and the DatabaseRequest. OLD, if given, gets the label that keeps the older operator
# from dropping the database. It may be run at each deployment, also when OLD is deleted by then.
#
# Exit status: 0 the database was taken over, mount the request's Secret; 3 it was not, go on with the old object; 4 it
# isn't known, for it was taken over before, or OLD isn't there: nothing was deleted, leave the application as it is;
# any other: it isn't known, end the deployment.
set -eu
namespace=$1 request=$2 manifest=$3 timeout=${4:-15m}

look() { kubectl -n "$namespace" get "$1" --ignore-not-found -o "jsonpath=$2"; }
ready() { look "dbr/$request" "{.status.conditions[?(@.type=='Ready')].$1}"; }
# `old` gets the old object's name; empty: it is gone, or none was given.
look_for_old() { if [ -n "${OLD:-}" ]; then old=$(look "$OLD" '{.metadata.name}'); else old=; fi; }
unknown() { echo "not known: $1; nothing was deleted" >&2 && exit 4; }

# Taken over: the old object must not drop it any more. The first time that object has to be there.
label_old() {
  if [ -z "$had" ]; then old=${OLD:-}; else look_for_old; fi
  test -z "$old" || kubectl -n "$namespace" label --overwrite "$OLD" dbaas.amazee.io/no-drop-database=true
}
tell_why() {
  why=$(ready message) # empty where no operator has looked at it yet
  why="${why:+$(ready reason): }${why:-nobody looked at it: does the operator run?}"
  if [ "$settled" ]; then echo "refused for good, $why" >&2; else echo "not settled within $timeout, $why" >&2; fi
}
# What an application may use already, or can't go back from, is never deleted.
stop_if_in_use() {
  look_for_old
  had=$had$(look "dbr/$request" '{.status.databaseInfo}') # it was Ready in the meantime
  if [ -n "$had" ]; then unknown "it was taken over before"; fi
  if [ -n "${OLD:-}" ] && [ -z "$old" ]; then unknown "$OLD is gone"; fi
}

# What earlier deployments came to: a request that was Ready, or has its place on a server, may be in use.
had=$(look "dbr/$request" '{.status.databaseInfo}{.status.observedDatabaseConnectionReference}')
look_for_old
if [ -n "${OLD:-}" ] && [ -z "$old$had" ]; then unknown "$OLD isn't there, and the request has no database so far"; fi

# begin
kubectl -n "$namespace" apply -f "$manifest"
settled=yes && kubectl -n "$namespace" wait "dbr/$request" --for=condition=Settled --timeout="$timeout" || settled=
is=$(ready status)
if [ "$settled$is" = yesTrue ]; then label_old; exit 0; fi
tell_why
stop_if_in_use
# Not settled, it may still be taken over at any moment: nothing may be dropped then.
keep='{"spec":{"dropDatabaseOnDelete":false}}'
test "$settled" || kubectl -n "$namespace" patch dbr "$request" --type=merge -p "$keep"
kubectl -n "$namespace" delete dbr "$request" --timeout=5m
# end
exit 3

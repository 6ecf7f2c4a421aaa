#!/bin/sh
# A deployment's way to a database that an old object has so far.
#
#   OLD=mariadbconsumer/NAME deploy-with-seed.sh NAMESPACE REQUEST MANIFEST [TIMEOUT]
#
# MANIFEST holds the seed secret and the DatabaseRequest. OLD, if given, gets the label that keeps the older operator
# from dropping the database. Exit status: 0 the database was taken over, mount the request's Secret; 3 it was not, go
# on with the old object; any other: it isn't known, end the deployment.
set -eu
namespace=$1 request=$2 manifest=$3 timeout=${4:-15m}

# begin
ready() { kubectl -n "$namespace" get dbr "$request" -o "jsonpath={.status.conditions[?(@.type=='Ready')].$1}"; }
kubectl -n "$namespace" apply -f "$manifest"
if kubectl -n "$namespace" wait "dbr/$request" --for=condition=Settled --timeout="$timeout"; then
  if [ "$(ready status)" = True ]; then # taken over: the old object must not drop it any more
    test -z "${OLD:-}" || kubectl -n "$namespace" label --overwrite "$OLD" dbaas.amazee.io/no-drop-database=true
    exit 0
  fi
  echo "refused for good, $(ready reason): $(ready message)" >&2
else # it may still be taken over at any moment: nothing may be dropped then
  kubectl -n "$namespace" patch dbr "$request" --type=merge -p '{"spec":{"dropDatabaseOnDelete":false}}'
  why=$(ready message) # empty where no operator has looked at it yet
  echo "not settled within $timeout, ${why:+$(ready reason): }${why:-nobody looked at it: does the operator run?}" >&2
fi
kubectl -n "$namespace" delete dbr "$request" --timeout=5m
# end
exit 3

"""What belongs to the demo, by name. Its cleaning touches nothing else."""

#: The namespace of the requests, and another one that a seed may not be read from.
NAMESPACE = "dbaas-demo"
ELSEWHERE = "dbaas-demo-elsewhere"
#: Databases and accounts on the servers, but for those that the operator makes up for plain requests.
PREFIX = "demo_"
#: The label of the demo's namespaces.
LABEL = "dbaas.lagoon.sh/demo"
#: The table in each database that the older operator left, and its rows.
TABLE = "pages"
ROWS = 1000
#: Seconds that an adopted database's request must have been Ready before its deletion drops the database.
GRACE = 30

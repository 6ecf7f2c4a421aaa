# The base image of ansible-operator-plugins: ansible-operator, ansible-runner and ansible-core.
FROM quay.io/operator-framework/ansible-operator:v1.42.3

# The base image comes without pip, and keeps its Python packages in the system's folders.
USER root
COPY requirements.txt /tmp/requirements.txt
RUN python3 -m ensurepip \
 && python3 -m pip install --no-cache-dir -r /tmp/requirements.txt \
 && python3 -m pip uninstall -y pip \
 && rm /tmp/requirements.txt

COPY requirements.yml ${HOME}/requirements.yml
RUN ansible-galaxy collection install -r ${HOME}/requirements.yml -p ${HOME}/collections \
 && rm -rf ${HOME}/.ansible/galaxy_cache ${HOME}/.ansible/tmp/*

# Read-only to the user that runs the operator: what a run executes can't be changed by a run.
COPY collections/ ${HOME}/collections/
COPY roles/ ${HOME}/roles/
COPY playbooks/ ${HOME}/playbooks/
COPY watches.yaml ${HOME}/watches.yaml

# Python can't store its compiled files in a read-only container, and each run is a new process.
RUN python3 -m compileall -q ${HOME}/collections/ansible_collections/lagoon

# The runs start in the folder of their playbook, so the paths must be absolute.
ENV ANSIBLE_ROLES_PATH=/opt/ansible/roles \
    ANSIBLE_COLLECTIONS_PATH=/opt/ansible/collections \
    ANSIBLE_GATHERING=explicit \
    ANSIBLE_PIPELINING=true \
    ANSIBLE_NO_TARGET_SYSLOG=true \
    ANSIBLE_LOCALHOST_WARNING=false \
    ANSIBLE_INVENTORY_UNPARSED_WARNING=false \
    ANSIBLE_DEPRECATION_WARNINGS=false \
    ANSIBLE_REMOTE_TMP=/tmp/ansible/remote \
    ANSIBLE_LOCAL_TEMP=/tmp/ansible/local

USER 1001

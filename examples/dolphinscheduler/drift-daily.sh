#!/bin/sh
# A daily drift report, as a Shell task of DolphinScheduler. Reads only.
#
# Paste it into the task, or keep it on the worker and call it from there; then the line with STATEWARDEN_DS_TASK_INSTANCE
# has to stand in the task, since DolphinScheduler fills placeholders in the text of the task alone.
set -eu

PROGRAM=/opt/statewarden/bin/statewarden
# Names the token file (`token_file` in [ds]). No token in this text: it is shown in the web page and kept in the task's log.
CONFIG=/etc/statewarden/statewarden.toml
# One file on one host: the task has to run on the same worker every day. See the README of this folder.
LEDGER=/var/lib/statewarden/ledger.db
REPORTS=/var/lib/statewarden/reports

# Who ran this, for the ledger. Outside of DolphinScheduler the placeholder stays as it is and is left out.
# shellcheck disable=SC2016
export STATEWARDEN_DS_TASK_INSTANCE='${system.task.instance.id}'

umask 077
mkdir -p "$REPORTS"
report=$REPORTS/drift-$(date +%Y-%m-%d).json

# Ends 0 on plain drift, so that the task stays green and only says what is new. Leave --drift-exit-code out to have it turn
# red. 3 (a view could not be read, or a guard closed) and 1 (it does not work) turn it red in any case.
exec "$PROGRAM" drift --config "$CONFIG" --ledger "$LEDGER" --since last --drift-exit-code 0 \
    --output terminal --output "json=$report" --color never

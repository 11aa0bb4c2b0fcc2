#!/bin/sh
# Cleaning up stale records, as a Shell task of DolphinScheduler that is started by hand, never on a schedule.
#
# The workflow has a parameter `plan_hash`, empty by default. Started without it, the task makes a plan and prints it; a person
# reads it. Started again with the hash that was printed, it applies exactly that plan.
set -eu

PROGRAM=/opt/statewarden/bin/statewarden
# Names the token files (`token_file` and `apply_token_file` in [ds]).
CONFIG=/etc/statewarden/statewarden.toml
# The ledger of the daily report, on the same worker: its runs are the earlier look that a plan needs, and its lease keeps two
# of these tasks from acting at once.
LEDGER=/var/lib/statewarden/ledger.db
PLANS=/var/lib/statewarden/plans
# At most so many deletes in one go.
LIMIT=50

# Filled in by DolphinScheduler; without such a parameter the placeholder stays as it is.
# shellcheck disable=SC2016
plan_hash='${plan_hash}'
# shellcheck disable=SC2016
export STATEWARDEN_DS_TASK_INSTANCE='${system.task.instance.id}'

umask 077
mkdir -p "$PLANS"
plan=$PLANS/plan.json

make_plan() {
    code=0
    "$PROGRAM" plan --config "$CONFIG" --ledger "$LEDGER" --limit "$LIMIT" --out "$plan" --color never || code=$?
    # 2 is drift, which is what a plan is for. 3 and 4 turn the task red: read why before anything is applied.
    [ "$code" -eq 2 ] || exit "$code"
    echo
    echo "To apply this plan, start the workflow again with plan_hash = the hash above, before it expires."
}

apply_plan() {
    # The hash that a person typed is the confirmation. `apply` itself checks it against the content and the ledger.
    if ! grep -q -F "\"hash\": \"$plan_hash\"" "$plan"; then
        echo "the plan in $plan is not $plan_hash; start the workflow without plan_hash to make a new one" >&2
        exit 4
    fi
    exec "$PROGRAM" apply "$plan" --yes --config "$CONFIG" --ledger "$LEDGER" \
        --output terminal --output "json=$PLANS/applied-$plan_hash.json" --color never
}

case $plan_hash in
    '' | '$'*) make_plan ;;
    *[!0-9a-f]*)
        echo "plan_hash takes the hash that the plan printed" >&2
        exit 1
        ;;
    *) apply_plan ;;
esac

//! The contract of the ledger port: one list of tests, run on every database that a ledger can live in.

mod audit;
mod findings;
mod intents;
mod lease;
mod processes;
mod runs;
mod sqlite_file;
mod store;

/// Runs the whole list on one kind of store; each test gets a new one.
macro_rules! contract_on {
    ($name:ident, $store:expr) => {
        contract_on! { $name, $store;
            runs {
                are_listed_newest_first
                survive_reopening
                are_found_by_what_a_person_types
                that_compared_nothing_are_never_the_last
            }
            findings {
                keep_first_and_last_sight
                are_resolved_only_by_a_whole_view
                that_come_back_start_a_new_spell
                set_aside_by_an_ignore_are_still_there
                of_another_scope_are_left_alone
                are_not_resolved_by_a_failed_run
                differ_between_runs
                are_not_called_gone_behind_a_gap
                of_a_record_that_was_removed_are_gone_behind_a_gap
                are_compared_only_between_runs_that_compared
                stale_ones_need_every_later_run
                stale_ones_need_the_same_path
                stale_ones_need_a_run_early_enough
                come_by_the_hundred
            }
            intents {
                plans_are_known_once_recorded
                a_plan_with_a_wrong_hash_is_refused
                are_open_until_closed
                need_the_lease
                need_a_recorded_plan
                are_settled_under_a_later_lease
                never_do_anything_twice
            }
            lease {
                has_one_holder
                runs_out
                is_renewed_and_released_only_by_its_holder
                ends_with_its_process
                stays_with_a_process_of_another_host
                goes_to_one_of_many
            }
            audit {
                entries_are_chained
                hashes_can_be_recomputed
                a_changed_entry_is_noticed
                a_rehashed_entry_is_noticed
                a_missing_entry_is_noticed
                an_exchanged_entry_is_noticed
                a_cut_end_is_noticed_by_the_head
                an_added_entry_is_noticed
                a_long_chain_is_walked_whole
                writers_at_once_leave_no_hole
            }
        }
    };
    ($name:ident, $store:expr; $($group:ident { $($test:ident)* })*) => {
        mod $name {
            $(
                mod $group {
                    use crate::ledger_contract::{$group, store::Store};

                    $(
                        #[tokio::test]
                        async fn $test() {
                            $group::$test(&$store).await;
                        }
                    )*
                }
            )*
        }
    };
}

contract_on!(sqlite, Store::sqlite());

//! The mutants: one step of the executor taken away each.
//!
//! They are about what a whole executor does, and no loom model reaches. `find` occurs
//! exactly once in its file, so that a mutant that no longer applies is noticed.

/// One change of the source, and the program that must fail then.
pub(crate) struct Mutant {
    pub(crate) name: &'static str,
    /// The file, from the root of the workspace.
    pub(crate) file: &'static str,
    pub(crate) find: &'static str,
    pub(crate) replace: &'static str,
    /// Must fail under one of the schedulers at least.
    pub(crate) program: &'static str,
}

const BLOCK_ON: &str = "ws-executor/src/api/block_on.rs";
const SCOPE: &str = "ws-executor/src/api/scope.rs";
const CANCEL: &str = "ws-executor/src/graph/cancel.rs";
const BRANCH: &str = "ws-executor/src/graph/run/branch.rs";
const PIPELINE_LANE: &str = "ws-executor/src/pipeline/lane.rs";
const PIPELINE_SHARED: &str = "ws-executor/src/pipeline/shared.rs";
const PIPELINE_STATE: &str = "ws-executor/src/pipeline/state.rs";
const BATCH: &str = "ws-executor/src/graph/item/batch/member.rs";
const KEY: &str = "ws-executor/src/graph/item/key.rs";
const LANE: &str = "ws-executor/src/scheduler/worker/lane.rs";
const OUTSIDE: &str = "ws-executor/src/api/outside.rs";
const HELP: &str = "ws-executor/src/scheduler/worker/help.rs";
const ABORT: &str = "ws-executor/src/task/abort.rs";
const SUBMIT: &str = "ws-executor/src/scheduler/submit.rs";
const NOTIFY: &str = "ws-executor/src/scheduler/notify.rs";
const SHUTDOWN: &str = "ws-executor/src/scheduler/shutdown.rs";
const SPARES: &str = "ws-executor/src/scheduler/monitor/spares.rs";
const SCHEDULE: &str = "ws-executor/src/scheduler/worker/schedule.rs";
const END: &str = "ws-executor/src/scheduler/worker/end.rs";
const QUIET: &str = "ws-executor/src/scheduler/quiet.rs";
const REFUSED: &str = "ws-executor/src/scheduler/refused.rs";
const REGISTRY: &str = "ws-executor/src/task/registry.rs";
const TASK_FUTURE: &str = "ws-executor/src/task/future.rs";
const GIVE_WAY: &str = "ws-executor/src/scheduler/worker/give_way.rs";
const FIND: &str = "ws-executor/src/scheduler/worker/find.rs";
const SHARE: &str = "ws-executor/src/scheduler/worker/share.rs";
const HOSTED: &str = "ws-executor/src/scheduler/worker/hosted.rs";
const PARK: &str = "ws-executor/src/scheduler/worker/park.rs";
const COMPAT_STATE: &str = "compat/async-executor/src/state.rs";
const COMPAT_RUNNER: &str = "compat/async-executor/src/runner.rs";
const WORKER: &str = "ws-executor/src/scheduler/worker/mod.rs";
const MONITOR: &str = "ws-executor/src/scheduler/monitor/mod.rs";
const THREAD: &str = "ws-executor/src/scheduler/monitor/thread.rs";
const SPARE: &str = "ws-executor/src/scheduler/monitor/spare.rs";

pub(crate) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "refused.dropped_in_the_wake",
        file: SUBMIT,
        find: "            self.refuse([refused]);\n",
        replace: "            drop(refused);\n",
        program: "shutdown.wake_in_drop",
    },
    Mutant {
        name: "refused.dropped_in_the_wake_on_a_worker",
        file: SCHEDULE,
        find: "self.shared.refuse([job]);",
        replace: "drop(job);",
        program: "shutdown.wake_in_drop",
    },
    Mutant {
        name: "refused.batch_is_dropped_in_the_wake",
        file: SCHEDULE,
        find: "            self.shared.refuse(refused);\n",
        replace: "            drop(refused);\n",
        program: "shutdown.wake_into_full_ring",
    },
    Mutant {
        name: "refused.last_worker_does_not_wait",
        file: SHUTDOWN,
        find: "while !dropping::drop_until(&self.refused, limit, is_over) {\n            turn_driver();\n        }",
        replace: "let _ = (limit, is_over, turn_driver);",
        program: "shutdown.inside_beside_wake",
    },
    Mutant {
        name: "refused.worker_ends_without_a_last_look",
        file: END,
        find: "            self.shared.drop_waiting();\n",
        replace: "",
        program: "shutdown.drop_blocks_for_another",
    },
    Mutant {
        name: "refused.line_is_private",
        file: REFUSED,
        find: ".or_else(|| self.take_from_line(|_| true))",
        replace: "",
        program: "shutdown.drop_blocks",
    },
    Mutant {
        name: "refused.ring_is_private",
        file: END,
        find: "self.shared.refuse_queued(queued.collect());",
        replace: "queued.for_each(|job| dropping::drop_job(&self.shared.refused, job));",
        program: "shutdown.drop_blocks_in_a_queue",
    },
    Mutant {
        name: "refused.ring_is_private_at_first",
        file: END,
        find: "        self.refuse_queued();\n        if self.shared.is_closed() {\n",
        replace: "        if self.shared.is_closed() {\n",
        program: "shutdown.drop_blocks",
    },
    Mutant {
        name: "refused.closing_thread_does_not_help",
        file: SHUTDOWN,
        find: "if !dropping::drop_until(&self.refused, limit, have_ended) {",
        replace: "if limit.is_some() && !dropping::drop_until(&self.refused, limit, have_ended) {",
        program: "shutdown.drop_blocks_in_a_queue",
    },
    Mutant {
        name: "close.last_worker_leaves_it_alone",
        file: REFUSED,
        find: "if jobs.closing == 0 && jobs.dropping",
        replace: "if jobs.dropping",
        program: "shutdown.drop_blocks",
    },
    Mutant {
        name: "close.passed_task_waits_for_ever",
        file: TASK_FUTURE,
        find: "self.metadata.scheduler().is_some_and(S::is_closed)",
        replace: "self.metadata.scheduler().is_some_and(|_| false)",
        program: "shutdown.nested_block_on_yields",
    },
    Mutant {
        name: "idle.ends_after_the_drops",
        file: SHUTDOWN,
        find: "        self.quiet.look_at_end();\n        self.monitor.close();\n",
        replace: "        self.monitor.close();\n        self.drop_waiting();\n        self.quiet.look_at_end();\n",
        program: "idle.shutdown_waits_for_the_waiter",
    },
    Mutant {
        name: "hosted.unpark_leaves_the_thread_asleep",
        file: HOSTED,
        find: "        self.inside.unpark();\n",
        replace: "",
        program: "hosted.waits_inside",
    },
    Mutant {
        name: "inject.notifies_nobody",
        file: SUBMIT,
        find: "self.injector.push(job)?;\n        self.notify_one();",
        replace: "self.injector.push(job)?;",
        program: "tasks.one_at_a_time",
    },
    Mutant {
        name: "park.does_not_look_again",
        file: PARK,
        find: "self.shared.has_work()\n            ||",
        replace: "false\n            ||",
        program: "tasks.one_at_a_time",
    },
    Mutant {
        name: "park.does_not_look_at_pinned",
        file: PARK,
        find: "            || !self.remote().pinned.is_empty()\n",
        replace: "",
        program: "pinned.spawn",
    },
    Mutant {
        name: "found_work.leaves_the_rest",
        file: NOTIFY,
        find: "if is_wanted && self.notify_idle() {",
        replace: "if is_wanted && false {",
        program: "blocked.outside",
    },
    Mutant {
        name: "slot.is_not_watched",
        file: SCHEDULE,
        find: "None => self.shared.monitor.watch(),",
        replace: "None => {}",
        program: "blocked.lifo_slot",
    },
    Mutant {
        name: "ring.is_not_watched",
        file: SHARE,
        find: "        self.shared.monitor.watch();\n",
        replace: "",
        program: "blocked.no_lifo_slot",
    },
    Mutant {
        name: "pinned.notifies_nobody",
        file: SUBMIT,
        find: "Some(sleeper) => self.unpark(sleeper),",
        replace: "Some(_) => {}",
        program: "pinned.spawn",
    },
    Mutant {
        name: "pinned.leaves_ring_unannounced",
        file: FIND,
        find: "let job = pinned.pull()?;\n        // What is queued here must wait, which its pusher did not know.\n        self.announce_rest();\n",
        replace: "let job = pinned.pull()?;\n        // What is queued here must wait, which its pusher did not know.\n",
        program: "blocked.yielded_behind_pinned",
    },
    Mutant {
        name: "batch.leaves_ring_unannounced",
        file: FIND,
        find: "into the ring quietly because this worker was about to run it next.\n        self.announce_rest();\n",
        replace: "into the ring quietly because this worker was about to run it next.\n",
        program: "blocked.yielded_beside_two",
    },
    Mutant {
        name: "turn.leaves_ring_unannounced",
        file: FIND,
        find: "                // What is queued here must wait, which its pusher did not know.\n                self.announce_rest();\n",
        replace: "",
        program: "blocked.yielded_behind_turn",
    },
    Mutant {
        name: "driver.turn_leaves_ring_unannounced",
        file: PARK,
        find: "            // The reactor may run tasks of its own, and these may block.\n            self.announce_rest();\n",
        replace: "",
        program: "driver.yielded_behind_turn",
    },
    Mutant {
        name: "hosted.leaves_ring_unannounced",
        file: HOSTED,
        find: "        self.announce_rest();\n        *state = HostedState::Running;\n",
        replace: "        *state = HostedState::Running;\n",
        program: "hosted.blocks_between_polls",
    },
    Mutant {
        name: "pinned.worker_ends_too_early",
        file: END,
        find: "if self.pinned.are_gone() {",
        replace: "if true {",
        program: "pinned.shutdown_of_two",
    },
    Mutant {
        name: "nested.leaves_ring_unannounced",
        file: BLOCK_ON,
        find: "        worker.announce_rest();\n",
        replace: "",
        program: "waiting.nested_then_blocks",
    },
    Mutant {
        name: "nested.yields_to_nobody",
        file: BLOCK_ON,
        find: "        worker.give_way();\n",
        replace: "",
        program: "waiting.nested_yields",
    },
    Mutant {
        name: "nested.yields_and_drops_nothing",
        file: GIVE_WAY,
        find: "            self.drop_when_closed();\n",
        replace: "",
        program: "waiting.nested_yields_at_the_end",
    },
    Mutant {
        name: "nested.wakes_no_driver",
        file: WORKER,
        find: ".for_each(SharedDriver::wake);",
        replace: ".for_each(|_| ());",
        program: "driver.nested_block_on",
    },
    Mutant {
        name: "nested.keeps_jobs_of_closed",
        file: PARK,
        find: "                self.drop_when_closed();\n",
        replace: "",
        program: "shutdown.nested_block_on",
    },
    Mutant {
        name: "driver.is_left_alone_after_a_turn",
        file: PARK,
        find: "            self.announce_events();\n            self.shared.hand_off(driver);\n",
        replace: "",
        program: "driver.left_alone_after_turns_eager",
    },
    Mutant {
        name: "driver.is_left_alone_after_a_sleep",
        file: PARK,
        find: "        self.announce_events();\n        self.shared.hand_off(driver);\n    }\n\n    /// Whether this worker",
        replace: "    }\n\n    /// Whether this worker",
        program: "driver.two_events",
    },
    Mutant {
        name: "driver.is_missed_while_parking",
        file: PARK,
        find: " || missed_driver {",
        replace: " || missed_driver && false {",
        program: "driver.missed_while_parking",
    },
    Mutant {
        name: "close.wakes_no_worker",
        file: SHUTDOWN,
        find: "        self.unpark_all();\n        self.quiet.look_at_end();",
        replace: "        self.quiet.look_at_end();",
        program: "shutdown.while_parking",
    },
    Mutant {
        name: "close.forgets_waiting_tasks",
        file: SHUTDOWN,
        find: "            .close_all(|waker| dropping::drop_woken_by(&self.refused, waker));\n",
        replace: "            .close_all(drop::<std::task::Waker>);\n",
        program: "shutdown.nested_block_on_waiting",
    },
    Mutant {
        name: "close.refused_seat_is_not_woken",
        file: TASK_FUTURE,
        find: "if wait == Wait::Aborted {\n            waker.wake_by_ref();\n",
        replace: "if wait == Wait::Aborted {\n",
        program: "shutdown.during_wake",
    },
    Mutant {
        name: "close.monitor_drops_nothing",
        file: THREAD,
        find: "    shared.drop_refused();\n    shared.report_end(&monitor.progress);\n",
        replace: "    shared.report_end(&monitor.progress);\n",
        program: "shutdown.inside_beside_monitor",
    },
    Mutant {
        name: "refused.monitor_drops_it_in_silence",
        file: THREAD,
        find: "                shared.refuse(refused);\n",
        replace: "                std::mem::forget(refused);\n",
        program: "shutdown.inside_beside_monitor",
    },
    Mutant {
        name: "drain.wakes_no_worker",
        file: SHUTDOWN,
        find: "        self.quiet.drain();\n        self.unpark_all();",
        replace: "        self.quiet.drain();",
        program: "drain.idle",
    },
    Mutant {
        name: "drain.forgets_pinned",
        file: SHUTDOWN,
        find: " && remote.pinned.is_empty()",
        replace: "",
        program: "drain.pinned",
    },
    Mutant {
        name: "idle.wakes_no_worker",
        file: QUIET,
        find: "        unpark_all();\n",
        replace: "        let _ = unpark_all;\n",
        program: "idle.nothing",
    },
    Mutant {
        name: "idle.forgets_waiting_tasks",
        file: SHUTDOWN,
        find: "self.is_quiet(|| self.registry.is_empty())",
        replace: "self.is_quiet(|| true)",
        program: "idle.waiting_task",
    },
    Mutant {
        name: "idle.seats_are_kept",
        file: REGISTRY,
        find: "        self.taken -= 1;\n",
        replace: "",
        program: "idle.waiting_task",
    },
    Mutant {
        name: "idle.looks_before_the_lock",
        file: QUIET,
        find: "        let mut moments = self.lock();\n        if is_quiet() {",
        replace: "        let is_quiet = is_quiet();\n        let mut moments = self.lock();\n        if is_quiet {",
        program: "idle.two_waiters",
    },
    Mutant {
        name: "idle.misses_the_shutdown",
        file: SHUTDOWN,
        find: "        self.quiet.look_at_end();\n",
        replace: "",
        program: "idle.shutdown",
    },
    Mutant {
        name: "idle.is_asked_once",
        file: PARK,
        find: "            self.shared.act_if_quiet();\n            let has_queued",
        replace: "            let has_queued",
        program: "idle.nothing",
    },
    Mutant {
        name: "abort.wakes_nobody",
        file: ABORT,
        find: "            waker.wake();\n",
        replace: "            drop(waker);\n",
        program: "abort.waiting",
    },
    Mutant {
        name: "abort.is_not_looked_at",
        file: ABORT,
        find: "word != EMPTY && word & KEY == 0 && self.has(word, ABORTED)",
        replace: "word != EMPTY && word & KEY == 0 && self.has(word, 0)",
        program: "abort.first_poll",
    },
    Mutant {
        name: "abort.is_missed_by_the_first_poll",
        file: TASK_FUTURE,
        find: "Some(key) => self.metadata.abort().wait_in(key, waker),",
        replace: "Some(key) => {\n                let _ = self.metadata.abort().wait_in(key, waker);\n                Wait::Begun\n            }",
        program: "abort.first_poll",
    },
    Mutant {
        name: "abort.is_missed_by_a_local_task",
        file: TASK_FUTURE,
        find: "if !slot.waits() && slot.wait_unregistered(waker) == Wait::Aborted {",
        replace: "if slot.wait_unregistered(waker) == Wait::Aborted && slot.waits() && false {",
        program: "abort.local",
    },
    Mutant {
        name: "abort.keeps_the_seat",
        file: ABORT,
        find: "let key = waiting.key.take();",
        replace: "let key = None;",
        program: "abort.detached",
    },
    Mutant {
        name: "abort.late_handle_has_no_waker",
        file: ABORT,
        find: "waker_in(&key).map(|waker| AbortState::waiting(waker, Some(key)))",
        replace: "waker_in(&key).map(|_| AbortState::waiting(Waker::noop().clone(), Some(key)))",
        program: "abort.waiting",
    },
    Mutant {
        name: "scope.ends_too_early",
        file: SCOPE,
        find: "let is_over = self.pending.load(Ordering::Acquire) == 0;",
        replace: "let is_over = true;",
        program: "waiting.scope",
    },
    Mutant {
        name: "scope.is_not_woken",
        file: SCOPE,
        find: "                ignore_panic(|| waiter.wake());\n",
        replace: "                ignore_panic(|| drop(waiter));\n",
        program: "waiting.scope",
    },
    Mutant {
        name: "found_work.nobody_is_called",
        file: NOTIFY,
        find: "        self.monitor.watch_if(|| self.has_work() || is_left());\n",
        replace: "        self.monitor.watch_if(|| is_left());\n",
        program: "blocked.only_worker",
    },
    Mutant {
        name: "found_work.driver_is_left_alone",
        file: NOTIFY,
        find: "        self.monitor.watch_if(|| self.has_work() || is_left());\n",
        replace: "        let _ = is_left;\n        self.monitor.watch_if(|| self.has_work());\n",
        program: "driver.left_by_all",
    },
    Mutant {
        name: "inject.nobody_is_called",
        file: NOTIFY,
        find: "None => self.watch_if_all_are_awake(),",
        replace: "None => {}",
        program: "blocked.all_workers_again",
    },
    Mutant {
        name: "monitor.drain_misses_its_hands",
        file: THREAD,
        find: "        let _inside = shared.wait_inside();\n",
        replace: "",
        program: "drain.shared",
    },
    Mutant {
        name: "monitor.wait_misses_its_hands",
        file: THREAD,
        find: "        let _inside = shared.wait_inside();\n",
        replace: "",
        program: "idle.shared",
    },
    Mutant {
        name: "monitor.shares_nothing",
        file: THREAD,
        find: "workers.into_iter().for_each",
        replace: "workers.into_iter().take(0).for_each",
        program: "blocked.lifo_slot",
    },
    Mutant {
        name: "monitor.leaves_slots",
        file: THREAD,
        find: "slot.take().into_iter().chain(stolen)",
        replace: "std::iter::empty().chain(stolen).chain(slot.take().filter(|_| false))",
        program: "blocked.lifo_slot",
    },
    Mutant {
        name: "monitor.notifies_nobody",
        file: THREAD,
        find: "shared.inject_batch(jobs)",
        replace: "shared.injector.push_batch(jobs)",
        program: "blocked.lifo_slot",
    },
    Mutant {
        name: "monitor.leaves_the_driver",
        file: THREAD,
        find: "                let _ = shared.notify_idle();\n",
        replace: "",
        program: "driver.left_alone",
    },
    Mutant {
        name: "monitor.rouses_nobody",
        file: THREAD,
        find: "Action::PollTasks => monitor.spares.rouse(),",
        replace: "Action::PollTasks => {}",
        program: "blocked.all_workers",
    },
    Mutant {
        name: "monitor.is_not_unparked",
        file: MONITOR,
        find: "            MonitorCall::Unpark => self.unpark(),",
        replace: "            MonitorCall::Unpark => {}",
        program: "blocked.all_workers_again",
    },
    Mutant {
        name: "monitor.sleeps_over_the_end",
        file: MONITOR,
        find: "        ignore_panic(|| drop(start));\n        self.unpark();\n",
        replace: "        ignore_panic(|| drop(start));\n",
        program: "blocked.lifo_slot",
    },
    Mutant {
        name: "monitor.spares_sleep_over_the_end",
        file: MONITOR,
        find: "        self.spares.close();\n",
        replace: "",
        program: "blocked.all_workers",
    },
    Mutant {
        name: "spare.polls_nothing",
        file: SPARE,
        find: "            while let Some(job) = self.next_due() {",
        replace: "            while let Some(job) = self.next_due().filter(|_| false) {",
        program: "blocked.all_workers",
    },
    Mutant {
        name: "spare.leaves_slots",
        file: SPARE,
        find: "                .find_map(slot)\n                .or_else(|| remotes().find_map(ring))",
        replace: "                .find_map(ring)\n                .or_else(|| remotes().find_map(slot).filter(|_| false))",
        program: "blocked.all_workers_over_slots",
    },
    Mutant {
        name: "spare.is_on_for_ever",
        file: SPARE,
        find: "            self.round.is_on.store(false, Ordering::Release);\n",
        replace: "            parker.park();\n",
        program: "blocked.all_workers_again",
    },
    Mutant {
        name: "spare.is_alone",
        file: SPARES,
        find: "            None => self.start(&mut threads),",
        replace: "            None if threads.list.is_empty() => self.start(&mut threads),\n            None => {}",
        program: "blocked.spare",
    },
    Mutant {
        name: "spare.drain_misses_its_poll",
        file: SPARE,
        find: "            let _inside = self.shared.wait_inside();\n",
        replace: "",
        program: "drain.beside_spare",
    },
    Mutant {
        name: "spare.has_no_host",
        file: SPARE,
        find: "ignore_panic(|| host(HostedWorker::spare(life)))",
        replace: "{\n                    let _ = host;\n                    life();\n                }",
        program: "hosted.spare",
    },
    Mutant {
        name: "spare.leaves_the_driver",
        file: SPARE,
        find: "        self.look_at_workers();\n        self.turn_driver();\n",
        replace: "        self.look_at_workers();\n",
        program: "driver.left_by_all",
    },
    Mutant {
        name: "spare.drain_is_not_told",
        file: SPARE,
        find: "        self.shared.look_again_if_wanted();\n        if self.shared.is_closed() {",
        replace: "        if self.shared.is_closed() {",
        program: "drain.beside_spare",
    },
    Mutant {
        name: "drain.ended_worker_is_not_noticed",
        file: SHUTDOWN,
        find: "            return self.look_again_if_wanted();",
        replace: "            return;",
        program: "hosted.drain_beside_dropped",
    },
    Mutant {
        name: "scope.fork_is_not_counted",
        file: SCOPE,
        find: "        self.state.forks.add();\n",
        replace: "",
        program: "forks.scope",
    },
    Mutant {
        name: "scope.fork_is_counted_twice",
        file: SCOPE,
        find: "        self.state.forks.add();\n",
        replace: "        self.state.forks.add();\n        self.state.forks.add();\n",
        program: "forks.scope",
    },
    Mutant {
        name: "scope.fork_is_counted_late",
        file: SCOPE,
        find: "        worker.push_fork_of_scope(fork);\n",
        replace: "        worker.push_fork_of_scope(fork);\n        self.state.forks.add();\n",
        program: "forks.scope",
    },
    Mutant {
        name: "hosted.leaves_its_bit",
        file: HOSTED,
        find: "        self.leave_protocol();\n",
        replace: "",
        program: "hosted.dropped_early",
    },
    Mutant {
        name: "fork.notifies_nobody",
        file: NOTIFY,
        find: "            self.notify_fork_slow();\n",
        replace: "",
        program: "forks.must_be_stolen",
    },
    Mutant {
        name: "fork.owner_is_not_unparked",
        file: LANE,
        find: "            self.shared.remotes[worker].unparker.unpark();",
        replace: "            assert!(worker < usize::MAX);",
        program: "forks.join",
    },
    Mutant {
        name: "install.is_lost_at_shutdown",
        file: OUTSIDE,
        find: "(None, Some(code)) => code(),",
        replace: "(None, Some(_)) => panic!(\"nobody ran it\"),",
        program: "forks.install",
    },
    Mutant {
        name: "help.does_not_look_again",
        file: HELP,
        find: "if self.shared.has_forks() || !latch.fall_asleep() {",
        replace: "if !latch.fall_asleep() {",
        program: "forks.helper_must_wake",
    },
    Mutant {
        name: "graph.cancel_wakes_nobody",
        file: CANCEL,
        find: "            ignore_panic(|| waker.wake());\n",
        replace: "            ignore_panic(|| drop(waker));\n",
        program: "graphs.error_cancels",
    },
    Mutant {
        name: "graph.last_branch_wakes_nobody",
        file: BRANCH,
        find: "            ignore_panic(|| run.wake());\n",
        replace: "            ignore_panic(|| drop(run));\n",
        program: "graphs.diamond",
    },
    Mutant {
        name: "graph.branch_does_not_look_again",
        file: CANCEL,
        find: "                    // After leaving the waker: see the module docs.\n                    if self.is_cancelled() {",
        replace: "                    if false {",
        program: "graphs.error_cancels",
    },
    Mutant {
        name: "pipeline.waiting_lane_does_not_look_again",
        file: PIPELINE_SHARED,
        find: "if state.phase >= Phase::Stopping {\n            return LaneState::Active;",
        replace: "if false {\n            return LaneState::Active;",
        program: "pipelines.stop",
    },
    Mutant {
        name: "pipeline.source_rings_unheard",
        file: PIPELINE_SHARED,
        find: "Pulled::Pending if state.rang => {}",
        replace: "Pulled::Pending if false => {}",
        program: "pipelines.source_waits",
    },
    Mutant {
        name: "pipeline.idle_lane_does_not_look_again",
        file: PIPELINE_LANE,
        find: "            self.seat.wait(cx.waker());\n            if self.seat.was_called() {",
        replace: "            self.seat.wait(cx.waker());\n            if false {",
        program: "pipelines.source_waits",
    },
    Mutant {
        name: "pipeline.nobody_listens_to_the_source",
        file: PIPELINE_STATE,
        find: "Call::Nobody if self.lacks_listener() =>",
        replace: "Call::Nobody if false =>",
        program: "pipelines.all_wait",
    },
    Mutant {
        name: "pipeline.source_waker_keeps_the_whole",
        file: PIPELINE_SHARED,
        find: "bell: Waker::from(Arc::new(Bell(Arc::downgrade(&state)))),",
        replace: "bell: {
                struct Flawed<P: PerItem>(Weak<PipelineShared<P>>);
                impl<P: PerItem> Wake for Flawed<P> {
                    fn wake(self: Arc<Self>) {
                        if let Some(shared) = self.0.upgrade() {
                            Waker::from(Arc::new(Bell(Arc::downgrade(&shared.state)))).wake();
                        }
                    }
                }
                Waker::from(Arc::new(Flawed(me.clone())))
            },",
        program: "pipelines.woken_when_dropped",
    },
    Mutant {
        name: "pipeline.wake_of_the_source_spawns",
        file: PIPELINE_SHARED,
        find: "bell: Waker::from(Arc::new(Bell(Arc::downgrade(&state)))),",
        replace: "bell: {
                struct Flawed<P: PerItem>(Weak<PipelineShared<P>>);
                impl<P: PerItem> Wake for Flawed<P> {
                    fn wake(self: Arc<Self>) {
                        if let Some(shared) = self.0.upgrade() {
                            let mut state = lock(&shared.state);
                            state.rang = true;
                            state.supply = Supply::Ready;
                            let call = state.add_lane();
                            drop(state);
                            shared.make(call);
                        }
                    }
                }
                Waker::from(Arc::new(Flawed(me.clone())))
            },",
        program: "pipelines.woken_at_shutdown",
    },
    Mutant {
        name: "batch.leader_leaves_silently",
        file: BATCH,
        find: "next = state.wake_leader();",
        replace: "next = None::<Waker>;",
        program: "items.batch_left",
    },
    Mutant {
        name: "batch.answers_wake_nobody",
        file: BATCH,
        find: "if let Some(waker) = waker.filter(|_| seat != self.seat) {",
        replace: "if let Some(waker) = waker.filter(|_| seat > self.seat) {",
        program: "items.batch",
    },
    Mutant {
        name: "key.next_is_not_woken",
        file: KEY,
        find: "Some(first) if was_first => woken.extend(self.wakers.remove(first)),",
        replace: "Some(_) if was_first => {}",
        program: "items.key",
    },
    Mutant {
        name: "key.ended_items_are_waited_for",
        file: KEY,
        find: "                state.end(number);\n                state.advance(woken);",
        replace: "                state.end(number);\n                let _ = woken;",
        program: "items.key",
    },
    Mutant {
        name: "compat.batch_unannounced",
        file: COMPAT_RUNNER,
        find: "        // For a moment it was in no queue.\n        found.inspect(|_| self.announce())",
        replace: "        found",
        program: "compat.batch",
    },
    Mutant {
        name: "compat.loot_unannounced",
        file: COMPAT_RUNNER,
        find: "                    // For a moment the other stolen tasks were in no queue.\n                    self.announce();\n",
        replace: "",
        program: "compat.loot",
    },
    Mutant {
        name: "compat.dropped_run_notifies_nobody",
        file: COMPAT_RUNNER,
        find: "            self.state.sleepers.notify_many(count);\n",
        replace: "            let _ = count;\n",
        program: "compat.dropped",
    },
    Mutant {
        name: "compat.future_polled_while_searching",
        file: COMPAT_RUNNER,
        find: "        if runner.seat.is_searching() {",
        replace: "        if false {",
        program: "compat.future",
    },
    Mutant {
        name: "compat.yielded_unannounced",
        file: COMPAT_RUNNER,
        find: "        found.map(Runnable::run);\n        // If it has yielded, it is not the next to be polled: the future is, and may block.\n        self.announce();\n",
        replace: "        found.map(Runnable::run);\n",
        program: "compat.future_after_yield",
    },
    Mutant {
        name: "compat.wake_drops_the_future",
        file: COMPAT_STATE,
        find: "Pushed::NotHere(runnable) => self.injector.push(runnable),",
        replace: "Pushed::NotHere(runnable) => drop(runnable),",
        program: "compat.end",
    },
];

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

const BLOCK_ON: &str = "ws-executor/src/block_on.rs";
const PINNED: &str = "ws-executor/src/pinned.rs";
const SCOPE: &str = "ws-executor/src/scope.rs";
const CANCEL: &str = "ws-executor/src/graph/cancel.rs";
const BRANCH: &str = "ws-executor/src/graph/run/branch.rs";
const PIPELINE_LANE: &str = "ws-executor/src/pipeline/lane.rs";
const PIPELINE_SHARED: &str = "ws-executor/src/pipeline/shared.rs";
const BATCH: &str = "ws-executor/src/graph/item/batch/member.rs";
const KEY: &str = "ws-executor/src/graph/item/key.rs";
const LANE: &str = "ws-executor/src/worker/lane.rs";
const HELP: &str = "ws-executor/src/worker/help.rs";
const SHARED: &str = "ws-executor/src/shared.rs";
const TASK_FUTURE: &str = "ws-executor/src/task/future.rs";
const FIND: &str = "ws-executor/src/worker/find.rs";
const HOSTED: &str = "ws-executor/src/worker/hosted.rs";
const PARK: &str = "ws-executor/src/worker/park.rs";
const WORKER: &str = "ws-executor/src/worker/mod.rs";

pub(crate) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "inject.notifies_nobody",
        file: SHARED,
        find: "match self.injector.push(job) {\n            Ok(()) => self.notify_one(),",
        replace: "match self.injector.push(job) {\n            Ok(()) => {}",
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
        file: WORKER,
        find: "            self.shared.notify_of_rest();\n",
        replace: "            let _ = Shared::notify_of_rest;\n",
        program: "blocked.outside",
    },
    Mutant {
        name: "slot.is_not_watched",
        file: WORKER,
        find: "None => self.shared.want_sentinel(),",
        replace: "None => {}",
        program: "blocked.lifo_slot",
    },
    Mutant {
        name: "pinned.notifies_nobody",
        file: PINNED,
        find: "Some(sleeper) => shared.unpark(sleeper),",
        replace: "Some(_) => {}",
        program: "pinned.spawn",
    },
    Mutant {
        name: "pinned.leaves_ring_unannounced",
        file: FIND,
        find: "        self.announce_rest();\n",
        replace: "",
        program: "blocked.yielded_behind_pinned",
    },
    Mutant {
        name: "pinned.worker_ends_too_early",
        file: WORKER,
        find: "if self.pinned_futures.get() == 0 {",
        replace: "if true {",
        program: "pinned.shutdown",
    },
    Mutant {
        name: "nested.leaves_ring_unannounced",
        file: BLOCK_ON,
        find: "            worker.announce_rest();\n",
        replace: "",
        program: "waiting.nested_then_blocks",
    },
    Mutant {
        name: "nested.nobody_goes_on",
        file: SHARED,
        find: "(aside + 1 < running)",
        replace: "(aside < running)",
        program: "waiting.nested_too_deep",
    },
    Mutant {
        name: "nested.misses_pinned",
        file: PINNED,
        find: " || shared.someone_waits_aside()",
        replace: "",
        program: "waiting.aside_from_pinned",
    },
    Mutant {
        name: "nested.wakes_no_driver",
        file: WORKER,
        find: ".for_each(DriverSeat::wake);",
        replace: ".for_each(|_| ());",
        program: "driver.nested_block_on",
    },
    Mutant {
        name: "nested.keeps_jobs_of_closed",
        file: PARK,
        find: "                self.drop_queued();\n",
        replace: "",
        program: "shutdown.nested_block_on",
    },
    Mutant {
        name: "driver.is_left_alone_after_a_turn",
        file: PARK,
        find: "            self.announce_events();\n            seat.hand_off(&self.shared);\n",
        replace: "",
        program: "driver.left_alone_after_turns",
    },
    Mutant {
        name: "driver.is_left_alone_after_a_sleep",
        file: PARK,
        find: "        self.announce_events();\n        seat.hand_off(&self.shared);\n    }\n\n    /// Whether this worker",
        replace: "    }\n\n    /// Whether this worker",
        program: "driver.left_alone",
    },
    Mutant {
        name: "close.wakes_no_worker",
        file: SHARED,
        find: "        self.unpark_all();\n        self.stand_in.close();",
        replace: "        self.stand_in.close();",
        program: "shutdown.while_parking",
    },
    Mutant {
        name: "close.forgets_waiting_tasks",
        file: SHARED,
        find: "        self.registry.close_all();\n",
        replace: "",
        program: "shutdown.nested_block_on_waiting",
    },
    Mutant {
        name: "close.refused_seat_is_not_woken",
        file: TASK_FUTURE,
        find: "            waker.wake_by_ref();\n",
        replace: "",
        program: "shutdown.during_wake",
    },
    Mutant {
        name: "drain.wakes_no_worker",
        file: SHARED,
        find: "        fence(Ordering::SeqCst);\n        self.unpark_all();",
        replace: "        fence(Ordering::SeqCst);",
        program: "drain.idle",
    },
    Mutant {
        name: "drain.forgets_pinned",
        file: SHARED,
        find: " && remote.pinned.is_empty()",
        replace: "",
        program: "drain.pinned",
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
        name: "hosted.leaves_its_bit",
        file: HOSTED,
        find: "        self.leave_protocol();\n",
        replace: "",
        program: "hosted.dropped_early",
    },
    Mutant {
        name: "fork.notifies_nobody",
        file: LANE,
        find: "            self.notify_for_fork();\n",
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
        find: "if state.phase >= Phase::Stopping {\n            return Place::Active;",
        replace: "if false {\n            return Place::Active;",
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
];

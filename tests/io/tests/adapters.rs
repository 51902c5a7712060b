//! One suite of I/O tests, over every adapter.
#![cfg(target_os = "linux")]

#[path = "adapters/cancel.rs"]
mod cancel;
#[path = "adapters/datagrams.rs"]
mod datagrams;
#[path = "adapters/limits.rs"]
mod limits;
#[path = "adapters/many.rs"]
mod many;
#[path = "adapters/peers.rs"]
mod peers;
#[path = "adapters/shutdown.rs"]
mod shutdown;
#[path = "adapters/streams.rs"]
mod streams;
#[path = "adapters/timers.rs"]
mod timers;

use io_tests::worlds;

/// Runs each of the tests in each of the worlds.
macro_rules! suite {
    (worlds: $worlds:tt, tests: $tests:tt) => {
        suite!(@worlds $worlds $tests);
    };
    (@worlds { $($name:ident: $world:ident,)* } $tests:tt) => {
        $(suite!(@world $name $world $tests);)*
    };
    (@world $name:ident $world:ident { $($file:ident: $($test:ident)*;)* }) => {
        mod $name {
            $($(
                #[test]
                fn $test() {
                    let name = concat!(stringify!($name), "::", stringify!($test));
                    tests::watchdog::guard(name, || super::$file::$test::<super::worlds::$world>(name));
                }
            )*)*
        }
    };
}

suite! {
    worlds: {
        unaware: Unaware,
        smol: Smol,
        async_std: AsyncStd,
        tokio: Tokio,
        attached: Attached,
    },
    tests: {
        streams: echo_of_ten_thousand_messages a_root_future_does_io unix_sockets a_slow_reader_slows_only_its_writer;
        peers: half_close reset_by_peer connect_refused an_event_reaches_a_sleeping_executor;
        cancel: a_cancelled_read_loses_nothing a_cancelled_task_closes_its_socket;
        datagrams: udp;
        timers: timeouts_fire_or_do_not timers_fire_in_order_and_never_early many_timers_at_one_instant zero_and_endless_timers;
        many: thousand_connections;
        limits: descriptors_exhausted no_descriptor_is_left_behind silence_costs_nothing one_is_served_beside_ten_thousand;
        shutdown: shutdown_under_load waiting_tasks_are_dropped;
    }
}

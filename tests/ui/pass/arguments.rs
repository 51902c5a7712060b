//! Where the runtime is, as a path or in a string.

mod framework {
    pub use ws_executor as executor;
    pub use ws_executor::task_graph;
}

use framework::task_graph;

#[task_graph(crate = crate::framework::executor)]
async fn path(n: u32) -> u32 {
    let more: u32 = n + 1;
    more
}

#[task_graph(crate = "crate::framework::executor",)]
async fn string(n: u32) -> u32 {
    let more: u32 = n + 1;
    more
}

macro_rules! graph {
    ($name:ident -> $out:ty) => {
        #[task_graph(crate = $crate::framework::executor)]
        async fn $name(n: u32) -> $out {
            let more: u32 = n + 1;
            more
        }
    };
}
graph!(by_macro -> u32);

fn main() {
    let executor = ws_executor::Executor::new();
    let handle = executor.handle();
    handle.block_on(async {
        assert_eq!(path::on(&handle).run(1).await, 2);
        assert_eq!(string::on(&handle).until_more(1).await, 2);
        assert_eq!(by_macro(1).await, 2);
    });
}

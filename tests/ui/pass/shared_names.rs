//! Shared inputs may have any names, and types from a macro.

use std::sync::Arc;

use ws_executor::graph::Exclusive;
use ws_executor::task_graph;

pub struct Cfg(u32);

#[task_graph]
async fn add(
    n: u32,
    #[shared] shared: &Cfg,
    #[shared] spawner: &Cfg,
    #[shared] _shared: &Cfg,
    #[shared] x1: &Cfg,
    #[shared] x_1: &Cfg,
    #[shared] _: &Cfg,
    #[shared(exclusive)] r#type: &mut Vec<u32>,
) -> u32 {
    let sum = n + shared.0 + spawner.0 + x1.0 + x_1.0;
    r#type.push(sum);
    sum
}

macro_rules! graph {
    ($name:ident, $ty:ty) => {
        #[task_graph]
        async fn $name(n: u32, #[shared] cfg: $ty) -> u32 {
            let sum = n + cfg.0;
            sum
        }
    };
}
graph!(by_macro, &Cfg);

fn main() {
    let executor = ws_executor::Executor::new();
    let cfg = Arc::new(Cfg(1));
    let log = Exclusive::new(Vec::new());
    let shared = add::Shared {
        shared: cfg.clone(),
        spawner: cfg.clone(),
        _shared: cfg.clone(),
        x1: cfg.clone(),
        x_1: cfg.clone(),
        input_6: cfg.clone(),
        r#type: log.clone(),
    };
    let pipeline = add::bind(&executor.handle(), shared).iter(0..3).build().unwrap();
    assert_eq!(executor.block_on(pipeline.run()).unwrap().done, 3);
    assert_eq!(executor.block_on(async { log.lock().await.len() }), 3);
    assert_eq!(executor.block_on(by_macro::on(&executor.handle()).run(1, cfg)), 2);
}

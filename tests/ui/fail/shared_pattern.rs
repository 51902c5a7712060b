//! A shared input has one name.

use ws_executor::task_graph;

struct Config {
    url: String,
    times: usize,
}

#[task_graph]
async fn count(
    #[shared] Config { url, times }: &Config,
    #[shared(exclusive)] (a, b): &mut (u32, u32),
) -> usize {
    let size = url.len() * times;
    *a += 1;
    *b += 1;
    size
}

async fn user(handle: ws_executor::Handle, config: std::sync::Arc<Config>) {
    let pair = ws_executor::graph::Exclusive::new((0, 0));
    count::on(&handle).run(config, pair).await;
}

fn main() {}

//! A shared value that is `Copy` is copied before it goes to another task or thread.

use ws_executor::task_graph;

#[task_graph]
async fn both(number: u32) -> u32 {
    let id = twice(number).await;
    let task = {
        let id = id;
        ws_executor::spawn(async move { twice(id).await }).await
    };
    let thread = {
        let id = id;
        std::thread::spawn(move || id + 1).join().unwrap()
    };
    let other = twice(id).await;
    task + thread + other
}

async fn twice(number: u32) -> u32 {
    2 * number
}

fn main() {
    let executor = ws_executor::Executor::new();
    let handle = executor.handle();
    executor.block_on(async {
        assert_eq!(both(1).await, 11);
        assert_eq!(both::on(&handle).run(1).await, 11);
    });
}

//! The smallest program: tasks on an executor that starts by itself.

fn main() {
    let total: u64 = ws_executor::block_on(async {
        let tasks = ws_executor::spawn_many((1..=1000).map(|n: u64| async move { n * n }));
        let mut total = 0;
        for task in tasks {
            total += task.await;
        }
        total
    });
    println!("the squares of 1 to 1000 add up to {total}");
}

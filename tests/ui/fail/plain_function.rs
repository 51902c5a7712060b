//! A graph is an ordinary function.

use ws_executor::task_graph;

#[task_graph]
async unsafe fn area(side: u32) -> u32 {
    let area = side * side;
    area
}

struct Square(u32);

impl Square {
    #[task_graph]
    async fn area(&self) -> u32 {
        let area = 1;
        area
    }
}

fn main() {}

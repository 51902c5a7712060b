//! A `Result` by another name is said to be one.

use ws_executor::task_graph;

type Answer<T> = Result<T, std::num::ParseIntError>;

#[task_graph]
async fn read(text: String) -> Answer<u32> {
    let number = text.parse();
    number
}

#[task_graph]
async fn last<T>(list: Vec<T>) -> Maybe<T> {
    let item = list.into_iter().last();
    item
}

type Maybe<T> = Option<T>;

fn main() {}

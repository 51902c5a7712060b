//! Values of a local graph need not be `Send`, and may borrow from each other.

use std::cell::RefCell;
use std::rc::Rc;

use ws_executor::task_graph;

#[task_graph(local)]
async fn count(words: Rc<RefCell<Vec<String>>>) -> usize {
    let first = add(&words, "a").await;
    let second = add(&words, "b").await;
    let shared = Rc::new(first + second);
    words.borrow_mut().push("c".into());
    *shared + words.borrow().len()
}

async fn add(words: &RefCell<Vec<String>>, word: &str) -> usize {
    words.borrow_mut().push(word.into());
    1
}

fn main() {
    assert_eq!(futures::executor::block_on(count(Rc::default())), 5);
}

//! For any input, the macro answers with code or with errors, and does not panic.
//!
//! The inputs are random changes of good programs: tokens are dropped, doubled, swapped and
//! moved. The changes are the same in every run, so a failure comes from a change of the macro.

use proc_macro2::{Group, TokenStream, TokenTree};

use crate::task_graph2;

const PROGRAMS: [&str; 6] = [
    r#"pub async fn checkout<T: Clone>(shop: Arc<Shop<T>>, id: OrderId) -> Result<Receipt, Error> {
        let order = load(&shop, id).await?;
        #[node(retry(3, backoff = "50ms..2s", when = E::is_transient), timeout = "800ms")]
        let stock: Stock = reserve(&shop, &order).await?;
        #[node(timeout = "300ms", fallback = Fraud::Unknown, limit = 4)]
        let fraud: Fraud = score(&shop, &order).await?;
        let total = price(&order, &stock);
        shop.audit("charged", order.id, total).await?;
        Ok(Receipt { order, stock, fraud })
    }"#,
    r#"async fn area(#[shared] db: &Db, #[shared(exclusive)] log: &mut Log, side: u32) -> u32 {
        #[node(after(second), name = "first one")]
        let first = match side { 0 => { 1 } n if n > 2 => n, _ => db.get() };
        #[node(blocking)]
        let second = side;
        if first > 1 { log.add(format!("{first:?} {:>w$}", second, w = 3)); return first; }
        let (a, [b, ..], c @ Some(_)) = (first, [second], Some(3));
        #[node(graph)]
        let d = inner(a, b, c).await;
        d
    }"#,
    r#"async fn ingest(line: String, #[shared] http: &Http, #[shared] db: &Db) -> Result<Row, Error> {
        if line.is_empty() { skip!(); }
        #[node(limit = 8, key = line.len())]
        let event = parse(line)?;
        #[node(limit = 64, queue = 16, retry(3), timeout = "1s", rate = "500/s")]
        let rich = enrich(http, &event).await?;
        #[node(batch(rich, max = 500, within = "200ms"), limit = 2)]
        let row: Row = insert(db, rich).await?;
        Ok(row)
    }"#,
    r#"async fn parts<T>(items: Vec<T>, #[shared(exclusive)] log: &mut Log) -> T {
        let count = items.len();
        #[node(flat = 4)]
        let item: T = items;
        let (a, b) = (count + 1, look(&item).await);
        if a == b { return item; }
        let c = match b { 0 => skip!(), b => b };
        log.add(c).await;
        item
    }"#,
    "fn f() {}",
    "async fn f(self, mut x: &'a impl Fn(&u8)) -> impl Sized { let mut y; let Some(z) = x else { loop {} }; y + z }",
];

const ARGS: [&str; 4] = ["", "local", "crate = ::other", "lcoal, ="];

/// xorshift; good enough to choose tokens.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % n.max(1) as u64).unwrap_or(0)
    }
}

/// One change somewhere in the tree.
fn mutate(tokens: TokenStream, random: &mut Random) -> TokenStream {
    let mut tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let at = random.below(tokens.len());
    let other = random.below(tokens.len());
    match (tokens.get(at).cloned(), random.below(8)) {
        (None, _) => {}
        (Some(TokenTree::Group(group)), 0..=5) => {
            let inside = mutate(group.stream(), random);
            tokens[at] = Group::new(group.delimiter(), inside).into();
        }
        (_, 6) => tokens.swap(at, other),
        (_, 7) => drop(tokens.remove(at)),
        (Some(token), _) => tokens.insert(other, token),
    }
    tokens.into_iter().collect()
}

#[test]
fn no_input_makes_the_macro_panic() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut accepted = 0;
    for round in 0..6000 {
        let program = PROGRAMS[round % PROGRAMS.len()];
        let mut item: TokenStream = program.parse().expect("tokens");
        for _ in 0..random.below(4) {
            item = mutate(item, &mut random);
        }
        let args: TokenStream = ARGS[random.below(ARGS.len())].parse().expect("tokens");
        let text = item.to_string();
        let output = std::panic::catch_unwind(|| task_graph2(args, item).to_string());
        let output = output.unwrap_or_else(|_| panic!("round {round}: {text}"));
        accepted += usize::from(!output.contains("compile_error"));
    }
    // Some programs must reach the expansion, or the test has tested nothing.
    assert!(accepted > 200, "only {accepted} programs were accepted");
}

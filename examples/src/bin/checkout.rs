//! A checkout as a task graph: an ordinary async function whose independent steps run at
//! the same time.
//!
//! The shop is a fake whose calls take a while. The function is run in three ways: as a
//! plain call, on the task of `main`; in parallel on an executor, with a deadline; and in
//! part, only as far as the stock.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use ws_executor::graph::{ThreadTimer, TimedOut, Timer};
use ws_executor::{Executor, task_graph};

#[task_graph]
async fn checkout(shop: Arc<Shop>, id: OrderId) -> Result<Receipt, CheckoutError> {
    let order = load_order(&shop, id).await?;
    #[node(retry(3, backoff = "50ms..2s", when = StockError::is_transient), timeout = "800ms")]
    let stock: Stock = reserve_stock(&shop, &order).await?; // these two
    #[node(timeout = "300ms", fallback = Fraud::Unknown)]
    let fraud: Fraud = fraud_score(&shop, &order).await?; // run together
    let total = price(&order, &stock); // a plain fn is a node too
    let charge = charge_card(&shop, &order, total, fraud).await?;
    shop.audit("charged", order.id, charge.id).await?; // not a `let`: a fence
    Ok(Receipt {
        order,
        stock,
        charge,
    }) // the last user may move
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let executor = Executor::builder().workers(2).build()?;
    let handle = executor.handle();
    let shop = Arc::new(Shop::default());

    let start = Instant::now();
    let receipt = executor.block_on(checkout(shop.clone(), OrderId(1)))?;
    println!("on one task:  {receipt:?} after {:?}", start.elapsed());

    let start = Instant::now();
    let run = checkout::on(&handle)
        .deadline(Duration::from_secs(5))
        .run(shop.clone(), OrderId(2));
    let receipt = executor.block_on(run)?;
    println!("in parallel:  {receipt:?} after {:?}", start.elapsed());

    let stock = executor.block_on(checkout::on(&handle).until_stock(shop.clone(), OrderId(3)))?;
    println!(
        "until stock:  {stock:?}, and {} charges",
        shop.charges.load(Ordering::Relaxed)
    );

    let refused = executor.block_on(checkout(shop, OrderId(404)));
    println!("no such order: {refused:?}");
    Ok(())
}

#[derive(Clone, Copy, Debug)]
struct OrderId(u32);

#[derive(Debug)]
struct Order {
    id: OrderId,
    items: u32,
}

#[derive(Debug)]
struct Stock {
    reserved: u32,
}

#[derive(Clone, Copy, Debug)]
enum Fraud {
    Low,
    Unknown,
}

#[derive(Debug)]
#[expect(dead_code, reason = "shown by `Debug`")]
struct Charge {
    id: u32,
    cents: u32,
}

#[derive(Debug)]
#[expect(dead_code, reason = "shown by `Debug`")]
struct Receipt {
    order: Order,
    stock: Stock,
    charge: Charge,
}

#[derive(Debug)]
#[expect(dead_code, reason = "shown by `Debug`")]
enum CheckoutError {
    NoOrder(OrderId),
    Stock(StockError),
    TimedOut,
}

#[derive(Debug)]
enum StockError {
    Busy,
}

impl StockError {
    fn is_transient(&self) -> bool {
        matches!(self, Self::Busy)
    }
}

#[derive(Debug)]
struct FraudError;

impl From<StockError> for CheckoutError {
    fn from(error: StockError) -> Self {
        Self::Stock(error)
    }
}

impl From<FraudError> for CheckoutError {
    fn from(_: FraudError) -> Self {
        Self::TimedOut
    }
}

impl From<TimedOut> for CheckoutError {
    fn from(_: TimedOut) -> Self {
        Self::TimedOut
    }
}

impl std::fmt::Display for CheckoutError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self:?}")
    }
}

impl std::error::Error for CheckoutError {}

/// Busy at every other reservation, and slow at everything.
#[derive(Debug, Default)]
struct Shop {
    reservations: AtomicU32,
    charges: AtomicU32,
}

impl Shop {
    async fn audit(&self, what: &str, order: OrderId, charge: u32) -> Result<(), CheckoutError> {
        println!("  audit: order {} was {what}, charge {charge}", order.0);
        Ok(())
    }
}

async fn a_while(millis: u64) {
    ThreadTimer.sleep(Duration::from_millis(millis)).await;
}

async fn load_order(_: &Shop, id: OrderId) -> Result<Order, CheckoutError> {
    a_while(20).await;
    if id.0 == 404 {
        Err(CheckoutError::NoOrder(id))
    } else {
        Ok(Order { id, items: 3 })
    }
}

async fn reserve_stock(shop: &Shop, order: &Order) -> Result<Stock, StockError> {
    a_while(40).await;
    if shop.reservations.fetch_add(1, Ordering::Relaxed) % 2 == 0 {
        return Err(StockError::Busy);
    }
    Ok(Stock {
        reserved: order.items,
    })
}

async fn fraud_score(_: &Shop, order: &Order) -> Result<Fraud, FraudError> {
    a_while(60).await;
    if order.items > 100 {
        Err(FraudError)
    } else {
        Ok(Fraud::Low)
    }
}

fn price(order: &Order, stock: &Stock) -> u32 {
    order.items.min(stock.reserved) * 250
}

async fn charge_card(
    shop: &Shop,
    order: &Order,
    cents: u32,
    fraud: Fraud,
) -> Result<Charge, CheckoutError> {
    a_while(20).await;
    let surcharge = match fraud {
        Fraud::Low => 0,
        Fraud::Unknown => 100,
    };
    let id = 1000 * order.id.0 + shop.charges.fetch_add(1, Ordering::Relaxed);
    Ok(Charge {
        id,
        cents: cents + surcharge,
    })
}

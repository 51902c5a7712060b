//! Alternating rounds: every contender once a round, in rotating order.
//!
//! A machine is faster at one time than at another: its clock changes, other
//! programs run, caches are warm or not. Contenders measured one after the other
//! would each get a time of their own. So each gives one short sample a round,
//! and the order is rotated by one every round, so that no one always runs after
//! the same neighbour.

/// What one sample says: `N` figures, the first of which is the time per unit.
pub type Sample<const N: usize> = [f64; N];

/// How often a disturbed sample is taken again before its round goes without.
///
/// Enough for a machine whose cores are shared with one other program, and not
/// so many that a hopeless one hangs; not measured.
const ATTEMPTS: usize = 20;

/// One of those that are compared.
pub struct Contender<K, const N: usize> {
    kind: K,
    sample: Box<dyn FnMut() -> Option<Sample<N>>>,
}

impl<K, const N: usize> Contender<K, N> {
    /// Names a way to take one sample; `None` is a sample that was disturbed.
    pub fn new(kind: K, sample: impl FnMut() -> Option<Sample<N>> + 'static) -> Self {
        Self {
            kind,
            sample: Box::new(sample),
        }
    }
}

/// The samples of one contender.
#[derive(Clone, Debug)]
pub struct Series<K, const N: usize> {
    /// Whose samples these are.
    pub kind: K,
    /// One for every round, except those that were disturbed throughout.
    pub samples: Vec<Sample<N>>,
}

impl<K, const N: usize> Series<K, N> {
    /// Returns the median of one of the figures; `NaN` without samples.
    pub fn median(&self, figure: usize) -> f64 {
        let mut values: Vec<_> = self.samples.iter().map(|sample| sample[figure]).collect();
        values.sort_unstable_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
    }

    /// Returns the smallest value of one of the figures; `NaN` without samples.
    pub fn best(&self, figure: usize) -> f64 {
        self.samples
            .iter()
            .map(|sample| sample[figure])
            .fold(f64::NAN, f64::min)
    }
}

/// Takes one sample of every contender a round, for as long as `goes_on`, which is told
/// how many rounds there were. The order of a round is the last one's, rotated by one.
///
/// ```
/// use benches::rounds::{Contender, alternate};
/// let mut times = [3.0, 1.0, 2.0].into_iter();
/// let steady = Contender::new("steady", || Some([2.0]));
/// let noisy = Contender::new("noisy", move || times.next().map(|time| [time]));
///
/// let series = alternate(vec![steady, noisy], |done| done < 3);
/// assert_eq!(series[0].median(0), 2.0);
/// assert_eq!((series[1].median(0), series[1].best(0)), (2.0, 1.0));
/// ```
pub fn alternate<K: Copy, const N: usize>(
    mut contenders: Vec<Contender<K, N>>,
    mut goes_on: impl FnMut(usize) -> bool,
) -> Vec<Series<K, N>> {
    let series = |contender: &Contender<K, N>| Series {
        kind: contender.kind,
        samples: Vec::new(),
    };
    let mut series: Vec<_> = contenders.iter().map(series).collect();
    let mut done = 0;
    while goes_on(done) {
        for turn in 0..contenders.len() {
            let index = (done + turn) % contenders.len();
            let sample = &mut contenders[index].sample;
            let taken = (0..ATTEMPTS).find_map(|_| sample());
            series[index].samples.extend(taken);
        }
        done += 1;
    }
    series
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::rc::Rc;

    #[test]
    fn the_order_rotates() {
        let order = Rc::new(RefCell::new(String::new()));
        let contender = |name: &'static str| {
            let order = Rc::clone(&order);
            Contender::new(name, move || {
                order.borrow_mut().push_str(name);
                Some([0.0])
            })
        };
        alternate(["a", "b", "c"].map(contender).into(), |done| done < 3);
        assert_eq!(*order.borrow(), "abcbcacab");
    }

    #[test]
    fn disturbed_samples_are_taken_again_but_not_for_ever() {
        let mut calls = 0;
        let late = Contender::new("late", move || {
            calls += 1;
            (calls % 3 == 0).then_some([1.0])
        });
        let never = Contender::<_, 1>::new("never", || None);
        let series = alternate(vec![late, never], |done| done < 2);
        assert_eq!((series[0].samples.len(), series[1].samples.len()), (2, 0));
        assert!(series[1].median(0).is_nan() && series[1].best(0).is_nan());
    }
}

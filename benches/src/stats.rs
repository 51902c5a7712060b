//! Quantiles and means.

/// Returns the value below which that share of all lies; `NaN` without values.
///
/// ```
/// let mut values = [3.0, 1.0, 2.0];
/// assert_eq!(benches::stats::quantile(&mut values, 0.5), 2.0);
/// ```
pub fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let index = (values.len() as f64 * share) as usize;
    values
        .get(index.min(values.len().saturating_sub(1)))
        .copied()
        .unwrap_or(f64::NAN)
}

/// Returns the geometric mean; `None` without values.
///
/// ```
/// assert_eq!(benches::stats::geometric_mean([].into_iter()), None);
/// let mean = benches::stats::geometric_mean([1.0, 4.0].into_iter()).unwrap();
/// assert!((mean - 2.0).abs() < 1e-9);
/// ```
pub fn geometric_mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0);
    for value in values {
        sum += value.ln();
        count += 1;
    }
    (count > 0).then(|| (sum / f64::from(count)).exp())
}

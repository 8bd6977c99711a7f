//! Profiles: typical uses of a system as weights of benchmarks, in `catalogue/profiles.toml` or a user's file.

use crate::error::{Error, Text};
use gritstone_model::{Benchmark, Kind, Profile};
use serde::Deserialize;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    profile: Vec<Spanned<Profile>>,
}

/// Reads the profiles over these benchmarks.
///
/// # Errors
/// The first fault, with its profile: a duplicate name, no weights, a weight that is not positive, a benchmark that does not exist or is a
/// score.
pub fn profiles(name: &str, text: &str, benchmarks: &[Benchmark]) -> Result<Vec<Profile>, Error> {
    let text = Text { name, text };
    let file: File = toml::from_str(text.text).map_err(|fault| text.serde(&fault, 0..0))?;
    let mut profiles: Vec<Profile> = vec![];
    for written in file.profile {
        let (span, mut profile) = (written.span(), written.into_inner());
        let must = |holds, what: String| text.must(holds, &span, || what);
        let first = profiles.iter().all(|known| known.name != profile.name);
        must(first, format!("there are two profiles '{}'", profile.name))?;
        must(!profile.weights.is_empty(), format!("'{}' has no weights", profile.name))?;
        for (id, weight) in &profile.weights {
            let found = benchmarks.iter().find(|benchmark| benchmark.id == *id);
            let scored = found.is_some_and(|found| found.work.kind() != Kind::Score);
            must(
                scored,
                format!("'{}': no benchmark is called '{id}', or it is a score", profile.name),
            )?;
            must(
                weight.is_finite() && *weight > 0.0,
                format!("'{}': the weight of {id} is not above 0", profile.name),
            )?;
        }
        for prose in [&mut profile.title, &mut profile.why] {
            *prose = prose.split_whitespace().collect::<Vec<_>>().join(" ");
        }
        profiles.push(profile);
    }
    Ok(profiles)
}

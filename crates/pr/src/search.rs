//! Binary search over commits, some of which cannot be tested. Pure.

use gritstone_model::BisectOutcome;

/// Commits, oldest first, the last of which is bad; the one before the first is good.
#[derive(Clone, Debug)]
pub struct Search {
    marks: Vec<Option<BisectOutcome>>,
}

impl Search {
    /// # Panics
    /// Without a commit.
    pub fn new(commits: usize) -> Self {
        let mut marks = vec![None; commits];
        *marks.last_mut().expect("the last commit is the bad one") = Some(BisectOutcome::Bad);
        Self { marks }
    }

    pub fn mark(&mut self, commit: usize, outcome: BisectOutcome) {
        self.marks[commit] = Some(outcome);
    }

    /// First commit that may be the change, and the first that is known to be bad.
    fn range(&self) -> (usize, usize) {
        let bad = self.marks.iter().position(|mark| *mark == Some(BisectOutcome::Bad));
        let bad = bad.unwrap_or(self.marks.len() - 1);
        let good = self.marks[..bad].iter().rposition(|mark| *mark == Some(BisectOutcome::Good));
        (good.map_or(0, |good| good + 1), bad)
    }

    /// The commit to test: the one nearest to the middle that was not skipped. `None` if no test would narrow the range.
    pub fn next(&self) -> Option<usize> {
        let (first, bad) = self.range();
        // one test halves the n + 1 candidates
        let middle = first + (bad - first).saturating_sub(1) / 2;
        let open = (first..bad).filter(|&commit| self.marks[commit].is_none());
        open.min_by_key(|commit| commit.abs_diff(middle))
    }

    /// Commits that may be the change: one, unless commits next to it were skipped or the search is not over.
    pub fn candidates(&self) -> std::ops::RangeInclusive<usize> {
        let (first, bad) = self.range();
        first..=bad
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The candidates that are left, and the number of tests.
    fn find(commits: usize, change: usize, skipped: &[usize]) -> (Vec<usize>, usize) {
        let mut search = Search::new(commits);
        let mut tests = 0;
        while let Some(commit) = search.next() {
            tests += 1;
            search.mark(
                commit,
                match commit {
                    _ if skipped.contains(&commit) => BisectOutcome::Skipped,
                    commit if commit < change => BisectOutcome::Good,
                    _ => BisectOutcome::Bad,
                },
            );
        }
        (search.candidates().collect(), tests)
    }

    #[test]
    fn each_change_is_found() {
        for commits in [1, 2, 3, 5, 64, 100] {
            for change in 0..commits {
                let (found, tests) = find(commits, change, &[]);
                assert_eq!(found, [change], "{change} of {commits}");
                assert!(
                    tests <= commits.next_power_of_two().ilog2() as usize,
                    "{tests} of {commits}"
                );
            }
        }
    }

    #[test]
    fn skipped_commits_stay_candidates() {
        assert_eq!(find(64, 40, &[31, 32, 20]).0, [40]);
        // the change, or one of the two before it that could not be tested
        assert_eq!(find(64, 40, &[38, 39]).0, [38, 39, 40]);
        assert_eq!(find(3, 2, &[0, 1]).0, [0, 1, 2]);
    }
}

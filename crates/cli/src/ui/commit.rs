//! The commit of a run: from the options, else from the environment of a job of GitHub, GitLab, Jenkins or Buildkite.

use crate::ui::output;
use anyhow::{Result, anyhow, bail};
use clap::Args;
use gritstone_model::Commit;

#[derive(Clone, Debug, Default, Args)]
pub struct CommitArgs {
    /// Commit of the measured program [default: that of the CI job]
    #[arg(long, value_name = "HASH", help_heading = "Run")]
    pub commit: Option<String>,
    /// Branch of the commit [default: that of the CI job]
    #[arg(long, value_name = "NAME", help_heading = "Run")]
    pub branch: Option<String>,
    /// Web address of the repository, for links to commits [default: that of the CI job]
    #[arg(long, value_name = "URL", help_heading = "Run")]
    pub repository: Option<String>,
}

/// Variables of a service: the commit, then the branch by preference, then the repository.
struct Service {
    commit: &'static str,
    branches: &'static [&'static str],
    repository: &'static str,
}

const SERVICES: [Service; 4] = [
    Service {
        commit: "GITHUB_SHA",
        branches: &["GITHUB_HEAD_REF", "GITHUB_REF_NAME"],
        repository: "GITHUB_REPOSITORY",
    },
    Service {
        commit: "CI_COMMIT_SHA",
        branches: &["CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "CI_COMMIT_REF_NAME"],
        repository: "CI_PROJECT_URL",
    },
    Service { commit: "GIT_COMMIT", branches: &["GIT_BRANCH"], repository: "GIT_URL" },
    Service {
        commit: "BUILDKITE_COMMIT",
        branches: &["BUILDKITE_BRANCH"],
        repository: "BUILDKITE_REPO",
    },
];

impl CommitArgs {
    /// # Errors
    /// When a named commit, branch or repository is invalid.
    pub fn commit(&self) -> Result<Option<Commit>> {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let found = commit_from_environment(&variable);
        let found = found.unwrap_or_else(|why| {
            output::remark(&format!("the commit of the CI job is not stored: {why}"));
            None
        });
        let Some(id) = self.commit.as_ref().or(found.as_ref().map(|found| &found.id)) else {
            if self.branch.is_some() || self.repository.is_some() {
                bail!("--branch and --repository are of a commit: add --commit HASH");
            }
            return Ok(None);
        };
        let found = found.clone().unwrap_or_default();
        let branch = self.branch.as_ref().or(found.branch.as_ref());
        let repository = self.repository.as_ref().or(found.repository.as_ref());
        let commit = Commit::new(id, branch.map(String::as_str), repository.map(String::as_str));
        commit.map(Some).map_err(|why| anyhow!(why))
    }
}

fn commit_from_environment(
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<Commit>, String> {
    let mut services = SERVICES.iter();
    let Some((service, id)) =
        services.find_map(|service| Some((service, variable(service.commit)?)))
    else {
        return Ok(None);
    };
    let branch = service.branches.iter().find_map(|name| variable(name));
    let repository = variable(service.repository).map(|repository| match service.commit {
        "GITHUB_SHA" => {
            let server = variable("GITHUB_SERVER_URL");
            format!("{}/{repository}", server.as_deref().unwrap_or("https://github.com"))
        }
        _ => repository,
    });
    Commit::new(&id, branch.as_deref(), repository.as_deref()).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(variables: &str) -> Result<Option<Commit>, String> {
        commit_from_environment(&|name| {
            let mut variables = variables.split(' ').filter_map(|word| word.split_once('='));
            variables.find(|(known, _)| *known == name).map(|(_, value)| value.to_owned())
        })
    }

    #[test]
    fn services_name_their_commits() {
        assert_eq!(found(""), Ok(None));
        let github = "GITHUB_REF_NAME=7/merge GITHUB_HEAD_REF=fix GITHUB_REPOSITORY=a/b";
        let gitlab = "CI_COMMIT_REF_NAME=main CI_PROJECT_URL=https://gitlab.com/a/b";
        let buildkite = "BUILDKITE_BRANCH=main BUILDKITE_REPO=git@example.org:a/b";
        for (revision, more, branch, repository) in [
            ("GITHUB_SHA", github, "fix", "https://github.com/a/b"),
            ("CI_COMMIT_SHA", gitlab, "main", "https://gitlab.com/a/b"),
            ("BUILDKITE_COMMIT", buildkite, "main", "git@example.org:a/b"),
        ] {
            let commit = Commit::new("0123abc", Some(branch), Some(repository)).unwrap();
            assert_eq!(found(&format!("{revision}=0123abc {more}")), Ok(Some(commit)));
        }
        assert!(found("GIT_COMMIT=0123abc GIT_BRANCH=a\u{1b}b").is_err());
        assert!(found("BUILDKITE_COMMIT=HEAD").is_err());
    }
}

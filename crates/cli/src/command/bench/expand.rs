//! Expands the command line of `gritstone bench`: one entry per command and combination of parameter values.

use super::shell_words::{plain_words, split};
use crate::command::bench::args::{BenchArgs, Statuses, StyleType};
use crate::ui::display::Format;
use crate::ui::parameters::{self, MAX_COMMANDS, Values, fill_in};
use anyhow::{Context, Result, bail, ensure};
use gritstone_model::{Benchmark, Id, Output, UserCommand, quote_word};
use gritstone_session::trial::command_benchmark;
use std::path::Path;

/// All combinations of parameter values.
fn parameter_values(args: &BenchArgs) -> Result<Vec<Values>> {
    let mut all: Vec<(String, Vec<String>)> = vec![];
    for triple in args.parameter_scan.chunks(3) {
        let [name, min, max] = triple else {
            bail!("--parameter-scan takes VAR MIN MAX");
        };
        let step = args.parameter_step_size.as_deref().unwrap_or("1");
        all.push((name.clone(), parameters::range(min, max, step)?));
    }
    for pair in args.parameter_list.chunks(2) {
        let [name, values] = pair else {
            bail!("--parameter-list takes VAR VALUES");
        };
        all.push((name.clone(), parameters::list(values)));
    }
    parameters::combine(all)
}

#[derive(Clone, Debug)]
pub struct Timed {
    pub name: String,
    /// The command line with its values.
    pub command: String,
    pub entry: Benchmark,
    pub values: Values,
    /// Run before the first execution; before each launch if it names a parameter.
    pub setup: Option<String>,
    pub cleanup: Option<String>,
}

/// The reference comes first, if there is one.
#[derive(Clone, Debug)]
pub struct Commands {
    pub all: Vec<Timed>,
    /// Starts all commands, also the baseline.
    pub shell: Option<Vec<String>>,
    /// Command that is not compared, whose time is subtracted from all.
    pub baseline: Option<Benchmark>,
    /// Working directory of all commands.
    pub directory: String,
    /// The setup names a parameter, so that it differs by command.
    pub setup_varies: bool,
}

const DEFAULT_SHELL: &str = "/bin/sh";

pub fn read(args: &BenchArgs) -> Result<Commands> {
    let ways = parameter_values(args)?;
    let texts: Vec<&String> = args.reference.iter().chain(&args.commands).collect();
    let shell = shell(args, &texts, &ways)?;
    let referred = usize::from(args.reference.is_some());
    let mut all = vec![];
    let reader = Reader {
        args,
        shell: shell.as_deref(),
        input: input(args)?,
        texts: texts.len(),
        ways: ways.len(),
        directory: directory()?,
    };
    reader.check()?;
    for (index, text) in texts.iter().enumerate() {
        // the reference has no parameters
        let ways = if index < referred { &vec![vec![]] } else { &ways };
        for values in ways {
            all.push(reader.timed(all.len(), index, text, values)?);
        }
    }
    check_names(&all)?;
    warn_of_unused(args, &ways[0]);
    let named =
        |text: &String| ways[0].iter().any(|(name, _)| text.contains(&format!("{{{name}}}")));
    Ok(Commands {
        baseline: args.subtract.as_ref().map(|text| reader.baseline(text)).transpose()?,
        directory: reader.directory.clone(),
        setup_varies: all.len() > 1 && args.setup.as_ref().is_some_and(named),
        all,
        shell,
    })
}

/// hyperfine accepts parameters in no command, too, so that they are no error.
fn warn_of_unused(args: &BenchArgs, values: &Values) {
    let hooks = args.setup.iter().chain(&args.prepare).chain(&args.conclude).chain(&args.cleanup);
    let texts: Vec<&String> = args.commands.iter().chain(hooks).collect();
    let unused = values.iter().map(|(name, _)| format!("{{{name}}}"));
    let unused: Vec<String> =
        unused.filter(|place| texts.iter().all(|text| !text.contains(place.as_str()))).collect();
    if !unused.is_empty() {
        log::warn!(
            "no command has {}: its values change nothing, and the same is measured for each",
            unused.join(" or ")
        );
    }
}

/// Names must be unique, but for a command that is repeated as it is.
fn check_names(all: &[Timed]) -> Result<()> {
    for (index, timed) in all.iter().enumerate() {
        let twice = all[..index].iter().any(|other| {
            let given = other.name != other.command || timed.name != timed.command;
            other.name == timed.name && given
        });
        ensure!(
            !twice,
            "two commands have the name '{}': give each its own with --command-name",
            timed.name
        );
    }
    Ok(())
}

/// All commands go by a shell, or none: an error of the subtracted start-up would be a difference between them.
fn shell(args: &BenchArgs, texts: &[&String], ways: &[Values]) -> Result<Option<Vec<String>>> {
    let needs_shell = |text: &&String| {
        let mut filled = ways.iter().map(|values| fill_in(text, values));
        filled.any(|command| plain_words(&command).is_none())
    };
    let default = || vec![DEFAULT_SHELL.to_owned()];
    Ok(match args.shell.as_deref() {
        _ if args.no_shell => None,
        None => texts.iter().chain(&args.subtract.as_ref()).any(needs_shell).then(default),
        Some("none") => None,
        Some("default") => Some(default()),
        Some(text) => Some(split(text).context("--shell")?),
    })
}

/// The input file, absolute, since commands have other working directories.
fn input(args: &BenchArgs) -> Result<Option<String>> {
    if args.input == "null" {
        return Ok(None);
    }
    let file = Path::new(&args.input);
    ensure!(file.is_file(), "--input: no file {}", args.input);
    Ok(Some(args.input.clone()))
}

fn directory() -> Result<String> {
    let here = std::env::current_dir().context("the current directory is unknown")?;
    let here = here.to_str().context("the name of this directory cannot be recorded")?;
    Ok(here.to_owned())
}

struct Reader<'a> {
    args: &'a BenchArgs,
    shell: Option<&'a [String]>,
    input: Option<String>,
    texts: usize,
    ways: usize,
    directory: String,
}

impl Reader<'_> {
    fn check(&self) -> Result<()> {
        let Self { args, texts, .. } = self;
        for (option, many) in [
            ("--prepare", args.prepare.len()),
            ("--conclude", args.conclude.len()),
            ("--output", args.output.len()),
        ] {
            ensure!(
                many <= 1 || many == *texts,
                "{option} is there {many} times: give it once for all commands, or once for each of the {texts}"
            );
        }
        ensure!(
            !args.leave_out_failures || args.ignore_failure != Some(Statuses::Any),
            "--ignore-failure times failed executions, and --leave-out-failures leaves them out: choose one"
        );
        let max = args.commands.len() * self.ways;
        ensure!(
            max <= MAX_COMMANDS,
            "these are {max} commands, and a test takes {MAX_COMMANDS} at most"
        );
        ensure!(
            args.names.len() <= max,
            "--command-name is there {} times, more than the number of commands, {max}",
            args.names.len()
        );
        let json = args.format.format == Format::Json;
        ensure!(
            !json || args.percentiles.is_empty(),
            "--percentiles are of the text, and --format json has none: --export-json has the time of each execution"
        );
        ensure!(
            !json || args.style != StyleType::None,
            "--style none prints nothing, so that --format json would be lost: leave out one"
        );
        let (min, max) = (args.min_runs.unwrap_or(0), args.max_runs.unwrap_or(u32::MAX));
        ensure!(min <= max, "--min-runs {min} is above --max-runs {max}");
        Ok(())
    }

    fn timed(&self, number: usize, index: usize, text: &str, values: &Values) -> Result<Timed> {
        let args = self.args;
        let fill = |text: &String| fill_in(text, values);
        let hook = |all: &[String]| {
            all.get(if all.len() == 1 { 0 } else { index }).map(|text| self.for_shell(&fill(text)))
        };
        let command = fill_in(text, values);
        let words = self.words(&command)?;
        let user = UserCommand {
            directory: self.directory.clone(),
            prepare: hook(&args.prepare),
            cleanup: hook(&args.conclude),
            ignore_failure: args.ignore_failure == Some(Statuses::Any),
            statuses: match &args.ignore_failure {
                Some(Statuses::These(codes)) => codes.clone(),
                _ => vec![],
            },
            leave_out_failures: args.leave_out_failures,
            allow_background: args.allow_background,
            input: self.input.clone(),
            output: match args.output.as_slice() {
                _ if args.show_output => Output::Inherit,
                [] => Output::default(),
                [one] => one.clone(),
                each => each[index].clone(),
            },
            batch: Some(args.batch(self.texts * self.ways)),
            ..UserCommand::default()
        };
        let name =
            self.name(number, index, values).unwrap_or_else(|| with_unused(text, &command, values));
        let id = Id::parse(gritstone_analysis::ab::COMMAND)?;
        Ok(Timed {
            entry: command_benchmark(id, &name, words, user),
            name,
            command,
            values: values.clone(),
            setup: args.setup.as_ref().map(|text| self.for_shell(&fill(text))),
            cleanup: args.cleanup.as_ref().map(|text| self.for_shell(&fill(text))),
        })
    }

    fn baseline(&self, text: &str) -> Result<Benchmark> {
        let words = self.words(text)?;
        let user = UserCommand {
            directory: self.directory.clone(),
            input: self.input.clone(),
            ..UserCommand::default()
        };
        let id = Id::parse(gritstone_analysis::ab::START_UP)?;
        Ok(command_benchmark(id, text, words, user))
    }

    /// Names are given per command, or per command and combination.
    fn name(&self, number: usize, index: usize, values: &Values) -> Option<String> {
        let args = self.args;
        let referred = usize::from(args.reference.is_some());
        if index < referred {
            return args.reference_name.clone();
        }
        let index = match args.names.len() <= args.commands.len() {
            true => index,
            false => number,
        };
        let name = args.names.get(index - referred)?;
        Some(fill_in(name, values))
    }

    /// Words to execute.
    fn words(&self, command: &str) -> Result<Vec<String>> {
        let more = ["-c", command].map(str::to_owned);
        match self.shell {
            None => split(command),
            Some(shell) => Ok(shell.iter().cloned().chain(more).collect()),
        }
    }

    /// Wraps a command for /bin/sh so that it starts the `--shell`.
    fn for_shell(&self, text: &str) -> String {
        let Some(words) = self.shell.filter(|words| *words != [DEFAULT_SHELL]) else {
            return text.to_owned();
        };
        let words: Vec<String> = words.iter().map(|word| quote_word(word)).collect();
        format!("exec {} -c {}", words.join(" "), quote_word(text))
    }
}

/// Appends values that the command does not show: `./sum (cc = gcc)`.
fn with_unused(text: &str, command: &str, values: &Values) -> String {
    let unused = values.iter().filter(|(name, _)| !text.contains(&format!("{{{name}}}")));
    let unused: Vec<String> = unused.map(|(name, value)| format!("{name} = {value}")).collect();
    match unused.as_slice() {
        [] => command.to_owned(),
        some => format!("{command} ({})", some.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Command};
    use clap::Parser;
    use gritstone_model::{CommandWork, Work};

    fn read(line: &[&str]) -> Result<Commands> {
        let all = ["gritstone", "bench"].iter().chain(line);
        let Some(Command::Bench(args)) = Cli::try_parse_from(all)?.command else {
            panic!("it is another command");
        };
        super::read(&args)
    }

    fn work(timed: &Timed) -> &CommandWork {
        match &timed.entry.work {
            Work::Command(work) => work,
            _ => panic!("it is a command"),
        }
    }

    fn names(line: &[&str]) -> Vec<String> {
        let read = read(line).unwrap();
        read.all.into_iter().map(|timed| timed.name).collect()
    }

    #[test]
    fn parameters_make_commands() {
        let delays = ["-P", "delay", "0.3", "0.7", "-D", "0.2", "sleep {delay}"];
        assert_eq!(names(&delays), ["sleep 0.3", "sleep 0.5", "sleep 0.7"]);
        let two = ["-L", "a", "x,y", "-L", "b", "1,2", "echo {a}{b}"];
        assert_eq!(names(&two), ["echo x1", "echo x2", "echo y1", "echo y2"]);
        let unused = ["-L", "cc", "gcc,clang", "-s", "{cc} x.c", "true"];
        assert_eq!(names(&unused), ["true (cc = gcc)", "true (cc = clang)"]);
        let read = read(&unused).unwrap();
        assert!(read.setup_varies);
        assert_eq!(read.all[1].setup.as_deref(), Some("clang x.c"));
    }

    #[test]
    fn names_match_command_count() {
        assert_eq!(names(&["-n", "one", "true", "false"]), ["one", "false"]);
        let each = ["-n", "one", "-n", "two", "-P", "x", "1", "2", "true {x}"];
        assert_eq!(names(&each), ["one", "two"]);
        let of_all = ["-n", "n{x}", "-P", "x", "1", "2", "true {x}"];
        assert_eq!(names(&of_all), ["n1", "n2"]);
        let against = ["--reference", "true 1", "--reference-name", "base", "-n", "x", "true"];
        assert_eq!(names(&against), ["base", "x"]);
    }

    #[test]
    fn contradictory_options_are_refused() {
        let cases: [(&[&str], &str); 10] = [
            (&[], "COMMAND"),
            (&["-n", "a", "-n", "b", "true"], "more than the number of commands, 1"),
            (&["-p", "a", "-p", "b", "true", "true", "true"], "once for each of the 3"),
            (&["-m", "5", "-M", "4", "true"], "is above"),
            (&["-r", "5", "-M", "4", "true"], "cannot be used with"),
            (&["-N", "sleep 'x"], "not closed"),
            (&["-L", "x", "1", "-P", "y", "1", "2", "true"], "cannot be used with"),
            (&["--output", "nul", "true"], "./nul"),
            (&["-i=300", "true"], "from 0 to 255"),
            (&["-P", "n", "1", "501", "true {n}", "echo {n}"], "these are 1002 commands"),
        ];
        for (line, what) in cases {
            let error = read(line).err().map(|why| format!("{why:#}"));
            assert!(
                error.as_ref().is_some_and(|error| error.contains(what)),
                "{line:?}: {error:?}"
            );
        }
    }

    #[test]
    fn all_go_by_a_shell() {
        let words = |line: &[&str]| -> Vec<usize> {
            read(line).unwrap().all.iter().map(|timed| work(timed).argv.len()).collect()
        };
        assert_eq!(words(&["sh a", "sh b"]), [2, 2]);
        assert_eq!(words(&["sh a", "sh a #"]), [3, 3]);
        assert_eq!(words(&["-L", "x", "a,$a", "sh {x}"]), [3, 3]);
        assert_eq!(words(&["-N", "sh a", "sh a $b"]), [2, 3]);
        assert_eq!(words(&["--subtract", ":", "sh a"]), [3]);
    }

    #[test]
    fn chosen_shell_runs_all_commands() {
        let read = read(&["-S", "bash --norc", "-p", "it's", "true"]).unwrap();
        let work = work(&read.all[0]);
        assert_eq!(work.argv, ["bash", "--norc", "-c", "true"]);
        let prepare = work.user.as_ref().unwrap().prepare.as_deref();
        assert_eq!(prepare, Some(r"exec 'bash' '--norc' -c 'it'\''s'"));
    }
}

//! The commands that only look: what next, list, show, compare, machines, doctor.

use crate::args::{CompareArgs, DoctorArgs, Format, FormatArgs, ListArgs, ShowArgs};
use crate::failure::Exit;
use crate::site::Site;
use crate::world::{World, is_kept};
use crate::{output, privileges, registry};
use anyhow::{Context, Result, ensure};
use gritstone_exec::privileged::Permits;
use gritstone_host::doctor::{self, programs};
use gritstone_host::{Finding, Severity};
use gritstone_model::{Benchmark, Id, Machine, SCHEMA_DOCTOR, SCHEMA_LIST, SCHEMA_SYSTEMS};
use gritstone_plan::{selected, why_not};
use gritstone_report::document::Style;
use gritstone_report::{Document, lists};
use schemars::JsonSchema;
use serde::Serialize;
use std::iter;
use std::process::Command;

/// Two figures within this share of each other count as the same, unless asked otherwise.
pub const MARGIN: f64 = 0.02;

/// `gritstone` alone.
pub fn what_next(world: &World) -> Result<Exit> {
    let runs = match world.reader()? {
        Some(store) => store.runs()?,
        None => vec![],
    };
    let next = match runs.last() {
        None => "\
Gritstone measures this machine the way the UNIX benchmarks of 1981 to 1987 did.

  gritstone run 'byte/*' iocall --quick
                           the benchmarks of BYTE, 1984, in two minutes
  gritstone run --budget 1h
                           all benchmarks and their variants
  gritstone list           what can be measured
  gritstone doctor         is this machine fit to be measured
  gritstone --help         everything else
"
        .to_owned(),
        Some(last) => format!(
            "\
{} kept; the last is {} of {}.

  gritstone show           its tables
  gritstone report          its performance brief, as HTML and PDF
  gritstone compare ref:vax-11-780-4.1bsd last
                           how many VAX-11/780s
  gritstone run            measure again
  gritstone --help         everything else
",
            match runs.len() {
                1 => "1 run is".to_owned(),
                many => format!("{many} runs are"),
            },
            last.id,
            last.started
        ),
    };
    output::plain(&next)?;
    Ok(Exit::Done)
}

/// What `list` says.
#[derive(Serialize, JsonSchema)]
pub(crate) struct List<'a> {
    schema: &'static str,
    benchmarks: Vec<Listed<'a>>,
}

/// One line of `list`.
#[derive(Serialize, JsonSchema)]
struct Listed<'a> {
    id: &'a Id,
    title: &'a str,
    unit: &'a str,
    source: String,
    /// Whose it is, where it is not ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    catalogue: Option<String>,
    needs: Vec<&'a String>,
    runnable: bool,
    why_not: Option<String>,
}

/// `gritstone list`.
pub fn list(world: World, args: &ListArgs) -> Result<Exit> {
    let world = world.with_catalogue(args.catalogue.as_deref())?;
    let wanted = selected(
        &world.catalogue.benchmarks,
        &world.selectors(&args.selectors),
    )?;
    let own = world.own.as_ref();
    let rows = wanted.iter().copied();
    let offer = Site::look(None)?.offer(rows.clone(), Permits::default(), own, false);
    let listed = rows.map(|row| {
        let own = own.filter(|own| own.kept.has(&row.id));
        let why_not = why_not(row, &offer);
        Listed {
            id: &row.id,
            title: &row.title,
            unit: row.unit.as_str(),
            source: source(row),
            catalogue: own.map(|own| own.kept.named()),
            needs: row.needs.iter().map(|need| &need.name).collect(),
            runnable: why_not.is_none(),
            why_not,
        }
    });
    let list = List {
        schema: SCHEMA_LIST,
        benchmarks: listed.collect(),
    };
    output::write(args.format.format, &list, || {
        let columns = [
            ("benchmark", Style::Code),
            ("what", Style::Text),
            ("unit", Style::Text),
            ("source", Style::Text),
            ("runs here", Style::Text),
        ];
        let rows = list.benchmarks.iter().map(|row| {
            let source = match &row.catalogue {
                Some(own) => format!("◊ not Gritstone's, of {own}: {}", row.source),
                None => row.source.clone(),
            };
            let runs = row.why_not.as_deref().unwrap_or("yes");
            [row.id.as_str(), row.title, row.unit, &source, runs].map(str::to_owned)
        });
        lists::table("What can be measured", columns, rows.collect())
    })?;
    Ok(Exit::Done)
}

fn source(benchmark: &Benchmark) -> String {
    let places: Vec<String> = benchmark
        .sources
        .iter()
        .map(|source| format!("{}, {}", source.document, source.place))
        .collect();
    places.join("; ")
}

/// `gritstone show`.
pub fn show(world: &World, args: &ShowArgs) -> Result<Exit> {
    let view = world.view(&args.run)?;
    output::write(args.format.format, &view, || gritstone_report::show(&view))?;
    Ok(Exit::Done)
}

/// `gritstone compare`.
pub fn compare(world: &World, args: &CompareArgs) -> Result<Exit> {
    // opened once for all runs, and for what it tells of their machine; where it cannot be read, the first of them says so
    let mut names = iter::once(&args.base).chain(&args.other);
    let store = names.any(|name| is_kept(name)).then(|| world.reader());
    let base = world.view(&args.base)?;
    let mut views = vec![];
    for other in &args.other {
        views.push(world.compare(&base, &world.view(other)?, args.margin));
    }
    // whoever reads what follows may take their time
    drop(store);
    match (args.format.format, views.as_slice()) {
        (Format::Json, [one]) => output::json(one)?,
        (Format::Json, many) => output::json(&many)?,
        (Format::Text, many) => {
            for (i, view) in many.iter().enumerate() {
                if i > 0 {
                    output::plain("\n")?;
                }
                output::text(&gritstone_report::compare(view))?;
            }
        }
    }
    Ok(Exit::Done)
}

/// What `systems` says.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Systems {
    schema: &'static str,
    systems: Vec<ListedMachine>,
}

/// One line of `systems`.
#[derive(Serialize, JsonSchema)]
struct ListedMachine {
    id: String,
    name: String,
    system: String,
    document: Option<String>,
    year: Option<i32>,
    configuration: String,
}

impl ListedMachine {
    fn of(id: String, machine: Machine) -> Self {
        Self {
            id,
            name: machine.name,
            system: machine.system,
            document: machine.document,
            year: machine.year,
            configuration: machine.configuration,
        }
    }
}

/// `gritstone systems`.
pub fn machines(world: &World, args: &FormatArgs) -> Result<Exit> {
    let printed = world.references.machines.iter();
    let printed =
        printed.map(|machine| ListedMachine::of(format!("ref:{}", machine.id), machine.clone()));
    let mut systems: Vec<ListedMachine> = printed.collect();
    if let Some(store) = world.reader()? {
        for run in store.runs()?.into_iter().rev() {
            if systems.iter().all(|known| known.id != run.machine_id) {
                let info = store.info(&run.id)?;
                systems.push(ListedMachine::of(run.machine_id, info.machine));
            }
        }
    }
    let listed = Systems {
        schema: SCHEMA_SYSTEMS,
        systems,
    };
    output::write(args.format, &listed, || {
        let columns = [
            ("machine", Style::Code),
            ("name", Style::Text),
            ("system", Style::Text),
            ("document", Style::Text),
            ("year", Style::Number),
            ("configuration", Style::Text),
        ];
        let rows = listed.systems.iter().map(|machine| {
            let document = machine.document.as_deref().unwrap_or("measured here");
            let year = machine
                .year
                .map_or_else(String::new, |year| year.to_string());
            let (name, system) = (&machine.name, &machine.system);
            let configuration = &machine.configuration;
            [
                machine.id.as_str(),
                name,
                system,
                document,
                &year,
                configuration,
            ]
            .map(str::to_owned)
        });
        lists::table("Machines", columns, rows.collect())
    })?;
    Ok(Exit::Done)
}

/// What `doctor` says.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Examined<'a> {
    schema: &'static str,
    findings: &'a [Finding],
}

/// `gritstone doctor`.
pub fn doctor(world: &World, args: &DoctorArgs) -> Result<Exit> {
    registry::recover();
    let site = Site::look(args.dir.as_deref())?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let rows = &world.catalogue.benchmarks;
    let mut findings = doctor::examine(site.host(), rows, &site.dir, &path);
    findings.extend(privileges::findings(rows));
    findings.extend(store(world));
    let examined = Examined {
        schema: SCHEMA_DOCTOR,
        findings: &findings,
    };
    output::write(args.format.format, &examined, || examination(&findings))?;
    if args.install {
        install(world, &site)?;
    }
    if findings.iter().any(|f| f.severity == Severity::Wrong) {
        let what = "figures measured now would be wrong; see the lines marked 'wrong'";
        return Err(Exit::CheckFailed.because(what));
    }
    Ok(Exit::Done)
}

/// Whether the store is whole; nothing where there is none.
fn store(world: &World) -> Option<Finding> {
    let (severity, value) = match looked_through(world) {
        Ok(None) => return None,
        Ok(Some((runs, wrong))) if wrong.is_empty() => {
            (Severity::Ok, format!("{runs} runs, whole"))
        }
        Ok(Some((_, wrong))) => (Severity::Warning, wrong.join("; ")),
        Err(error) => (Severity::Warning, format!("{error:#}")),
    };
    Some(Finding {
        name: "store".to_owned(),
        value,
        why: "What is damaged is not shown. Export the runs that are whole, move the database away, and import them again."
            .to_owned(),
        todo: None,
        severity,
    })
}

/// How many runs the store has, and what is wrong with it.
fn looked_through(world: &World) -> Result<Option<(usize, Vec<String>)>> {
    let Some(store) = world.reader()? else {
        return Ok(None);
    };
    let wrong = store.verify()?;
    let runs = store.runs().map_or(0, |runs| runs.len());
    Ok(Some((runs, wrong)))
}

/// What needs a look first, with the reason and the remedy; what is well in a short table after it.
fn examination(findings: &[Finding]) -> Document {
    let (well, mut rest): (Vec<&Finding>, Vec<&Finding>) =
        findings.iter().partition(|f| f.severity == Severity::Ok);
    let mut document = Document::new("Is this machine fit to be measured?");
    document.paragraph(match doctor::is_fit(findings) {
        true => "Yes: nothing here would make a figure wrong.",
        false => "No: figures measured now would be wrong.",
    });
    rest.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let columns = [
        ("what", Style::Text),
        ("", Style::Text),
        ("value", Style::Text),
        ("why it matters", Style::Text),
    ];
    let rows = rest.iter().map(|finding| {
        let severity = severity(finding.severity);
        let why = match &finding.todo {
            Some(todo) => format!("{} To mend it: {todo}", finding.why),
            None => finding.why.clone(),
        };
        [finding.name.as_str(), severity, &finding.value, &why].map(str::to_owned)
    });
    let head = "What to know, and what to do";
    lists::append(&mut document, head, columns, rows.collect());
    let columns = [("what", Style::Text), ("value", Style::Text)];
    let rows = well.iter().map(|f| [f.name.clone(), f.value.clone()]);
    lists::append(&mut document, "As it should be", columns, rows.collect());
    document
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Ok => "ok",
        Severity::Remark => "remark",
        Severity::Warning => "warning",
        Severity::Wrong => "wrong",
    }
}

/// Runs the command that installs what is missing, as it is shown.
fn install(world: &World, site: &Site) -> Result<()> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let missing = programs::missing(&world.catalogue.benchmarks, &path);
    if missing.is_empty() {
        output::remark("no program is missing");
        return Ok(());
    }
    let command = programs::install(site.host(), &missing)
        .context("the packages of this distribution have other names than Debian's: install the programs by its own means")?;
    output::remark(&format!("+ {}", command.join(" ")));
    let (program, arguments) = command.split_first().context("an empty command")?;
    let status = Command::new(program)
        .args(arguments)
        .status()
        .with_context(|| format!("cannot start {program}"))?;
    let command = command.join(" ");
    ensure!(status.success(), "'{command}' ended with {status}");
    Ok(())
}

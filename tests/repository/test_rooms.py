import ast
from collections import defaultdict

from tests.harness.core.all_cases import all_cases
from tests.harness.repository.structure import circle, structure

MOST_MODULES = 15

STARTED_BY_NAME = {
    "streamapp.placement.standby": "standbys are refused until they are built",
    "streamapp.placement.locations.task_locality": "standbys are refused until they are built",
    "streamapp.spec.schema.reference_page": "writes a page of the docs",
    "streamapp_operator.controller.rbac.operator_roles": "writes the chart's rules",
    "streamapp_operator.controller.rbac.rights_page": "writes a page of the docs",
    "streamapp.testing": "tests of users import it",
    "streamapp.__main__": "`python -m` starts it",
    "streamapp_operator.host_state.__main__": "a DaemonSet starts it",
    "streamapp_operator.reconciler.status.lifecycle_page": "writes a page of the docs",
    "streamapp_operator.reconciler.status.phase_diagram": "draws a picture of the docs",
    "streamapp_operator.reconciler.partition_counts.lookup_worker": "each process of a look-up starts it",
    "streamapp_operator.smoke_test": "a job of the chart starts it",
    "streamapp_runtime.remote.http": "resources name it",
    "streamapp_runtime.remote.postgres": "resources name it",
    "streamapp_runtime.remote.redis": "resources name it",
    "streamapp_runtime.notebook.notebook_run": "`App.run` loads it by its entry point",
    "streamapp_runtime.testing.pytest_plugin": "pytest loads it by its entry point",
    "streamapp_runtime.driver.spark.class_archive_making": "a process that outlives the run it works for",
    "streamapp_runtime.systems.embedded.page_check": "a process of its own, which may end by a signal",
}
"""The modules that no module imports, and who does instead. Commands are started by their entry points."""


def test_a_folder_is_a_room_that_a_reader_can_survey() -> None:
    with all_cases() as case:
        for package in sorted(structure().packages):
            with case(package):
                children = structure().children(package)
                modules = [name for name in children if name not in structure().packages]
                assert len(modules) <= MOST_MODULES
                assert len(children) != 1


def test_a_room_says_what_is_in_it() -> None:
    with all_cases() as case:
        for package in sorted(structure().packages):
            with case(package):
                assert ast.get_docstring(ast.parse(structure().files[package].read_text(encoding="utf-8")))


def test_no_arrow_between_the_children_of_a_folder_leads_back() -> None:
    with all_cases() as case:
        for package in sorted(structure().packages):
            with case(package):
                assert circle(structure().arrows(package)) == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    imports = {name: structure().imports[name] - structure().packages for name in structure().modules}
    assert circle(imports) == []


def test_a_public_class_name_exists_once() -> None:
    modules = defaultdict(list)
    for module, names in structure().classes.items():
        for name in names:
            if not name.startswith("_"):
                modules[name].append(module)
    assert {name: found for name, found in modules.items() if len(found) > 1} == {}


def test_a_file_name_exists_once() -> None:
    """Commands lie in `cli` folders under their verbs, whatever else has that name; `-m` names `__main__`."""
    modules = defaultdict(list)
    for module in structure().modules:
        folder, _, stem = module.rpartition(".")
        if not folder.endswith(".cli") and stem != "__main__":
            modules[stem].append(module)
    assert {stem: found for stem, found in modules.items() if len(found) > 1} == {}


def test_every_module_has_an_importer_or_is_started_by_its_name() -> None:
    importers = structure().importers()
    alone = {name for name in structure().modules if not importers[name]}
    verbs = {name for name in alone if name.rpartition(".")[0].endswith(".cli")}
    assert alone - verbs == STARTED_BY_NAME.keys()

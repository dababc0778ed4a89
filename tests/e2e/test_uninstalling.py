from tests.e2e.conftest import NewSpace
from tests.harness.cluster.app_namespace import LIMIT, Space
from tests.harness.cluster.app_traffic import topics_anew
from tests.harness.cluster.chart_installation import Installation
from tests.harness.cluster.kind_cluster import Cluster
from tests.harness.cluster.waiting import until

OWNED = "pods,services,configmaps,serviceaccounts,roles,rolebindings"
WHAT_AN_OPERATOR_TOUCHES = ("streamapps.streamapp.dev", "pods", "configmaps", "secrets", "services")


def test_apps_namespaces_and_operator_go_in_any_order_and_nothing_is_left_or_stuck(
    kind: Cluster, new_space: NewSpace
) -> None:
    topics_anew("leaving", {"views": 2, "seen": 2})
    orders = ("app-first", "namespace-first", "operator-first", "without-operator")
    spaces = [new_space(f"leaving-{order}") for order in orders]
    release = Installation(kind, "leaving", "leaving-system", "leaving", tuple(one.name for one in spaces))
    release.install()
    for space in spaces:
        space.apply("leaving/01-apply")
    for space in spaces:
        space.looks_like("leaving/01-assert")
    app_first, namespace_first, operator_first, without_operator = spaces

    app_first.kubectl("delete", "streamapp", "leaving", "--timeout=60s")
    until(lambda: app_first.names(OWNED), LIMIT)

    namespace_first.remove()
    operator_first.edit("leaving", restartNonce=1)  # the operator goes on in the others
    operator_first.looks_like("leaving/02-assert")

    left = (operator_first, without_operator)
    drivers = [space.driver("leaving") for space in left]
    release.uninstall()
    kind.kubectl("delete", "namespace", release.namespace, "--timeout=120s", limit=150)
    assert [space.driver("leaving") for space in left] == drivers  # its apps go on, too

    operator_first.kubectl("delete", "streamapp", "leaving", "--timeout=60s")
    until(lambda: operator_first.names(OWNED), LIMIT)
    without_operator.remove()


def test_an_operator_of_one_namespace_can_do_nothing_in_another(kind: Cluster, new_space: NewSpace) -> None:
    topics_anew("bounded", {"views": 2, "seen": 2})
    own, other = new_space("bounded"), new_space("bounded-other")
    release = Installation(kind, "bounded", "bounded-system", "bounded", (own.name,))
    release.install()
    other.apply("bounded/01-apply")
    own.play("bounded/01")
    assert other.status("bounded") == {}
    assert {line.split()[0] for line in _rights(release, own)} >= set(WHAT_AN_OPERATOR_TOUCHES)
    assert not [line for line in _rights(release, other) if line.startswith(WHAT_AN_OPERATOR_TOUCHES)]
    release.uninstall()
    kind.kubectl("delete", "namespace", release.namespace, "--timeout=120s", limit=150)


def _rights(release: Installation, space: Space) -> list[str]:
    """What the operator's account may do in a namespace, a resource a line."""
    account = f"system:serviceaccount:{release.namespace}:{release.release}-streamapp-operator"
    said = space.kubectl("auth", "can-i", "--list", "--no-headers", f"--as={account}")
    return said.splitlines()

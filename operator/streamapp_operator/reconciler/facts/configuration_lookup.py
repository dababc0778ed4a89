"""Looks up the versions of the Secrets and ConfigMaps that an app names, by their metadata alone."""

from collections.abc import Iterable

from streamapp.spec.resource.app import StreamApp
from streamapp_operator.controller.client.api_errors import FORBIDDEN, RejectedError
from streamapp_operator.controller.client.concurrent_calls import side_by_side
from streamapp_operator.controller.client.resource_kinds import ResourceKind
from streamapp_operator.reconciler.facts.reconcile_context import ReconcileContext
from streamapp_operator.reconciler.objects.configuration_versions import (
    CONFIGURATION_SECONDS,
    configuration_objects,
    version_key,
)


async def configuration_versions(
    context: ReconcileContext, namespace: str, apps: Iterable[StreamApp], *, fresh: bool
) -> dict[str, str]:
    """The versions by kind and name, of those that are there and may be read."""
    objects = sorted(
        {named for app in apps for named in configuration_objects(app, for_pulling=True)},
        key=lambda named: version_key(*named),
    )
    versions = await side_by_side([_version(context, kind, namespace, name, fresh) for kind, name in objects])
    versions_of_objects = zip(objects, versions, strict=True)
    return {version_key(*named): version for named, version in versions_of_objects if version}


async def _version(
    context: ReconcileContext, kind: ResourceKind, namespace: str, name: str, fresh: bool
) -> str:
    key = (kind.name, namespace, name)
    known = context.configuration_cache.peek(key)
    if known is not None and not fresh and context.clock() - known[0] < CONFIGURATION_SECONDS:
        return known[1]
    try:
        manifest = await context.cluster.read_metadata(kind, namespace, name)
    except RejectedError as error:
        if error.code != FORBIDDEN:
            raise
        manifest = None
    metadata = manifest["metadata"] if manifest is not None else None
    version = f"{metadata['uid']} {metadata['resourceVersion']}" if metadata else ""
    context.configuration_cache.put(key, (context.clock(), version))
    return version

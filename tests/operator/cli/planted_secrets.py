"""A hundred secrets in the forms in which they get into logs and objects.

A form has a mark such as `<alnum:24>` where a value is made up at run time: no value stands here, so that
no scanner takes one for real.
"""

import base64
import re
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import shake_256
from typing import Any, Final
from urllib.parse import quote

_ALPHABETS: Final = {
    "alnum": string.ascii_letters + string.digits,
    "b64": string.ascii_letters + string.digits + "+/",
    "b64url": string.ascii_letters + string.digits + "-_",
    "digits": string.digits,
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "symbols": string.ascii_letters + string.digits + "!$%^*#",
    "upper": string.ascii_uppercase + string.digits,
    "word": string.ascii_lowercase,
}
_MARK: Final = re.compile(r"<(\w+):(\d+)>")
_WINDOW: Final = 6


@dataclass(frozen=True, slots=True)
class PlantedSecret:
    """One form with values in it, and the values."""

    form: Any
    content: Any
    values: tuple[str, ...]

    def shows_in(self, text: str) -> bool:
        """Whether six characters in a row of any value stand in a text."""
        return any(
            value[start : start + _WINDOW] in text
            for value in self.values
            for start in range(max(1, len(value) - _WINDOW + 1))
        )


def planted_secrets(seed: str) -> Iterator[PlantedSecret]:
    """The forms with values, another one at each mark."""
    for number, form in enumerate(FORMS):
        values: list[str] = []
        content = _filled(form, f"{seed} {number}", values)
        yield PlantedSecret(form, content, tuple(values))
    yield from _copies(seed)


def _value(alphabet: str, length: int, seed: str) -> str:
    characters = _ALPHABETS[alphabet]
    return "".join(characters[each % len(characters)] for each in shake_256(seed.encode()).digest(length))


def _filled(form: Any, seed: str, values: list[str]) -> Any:
    if isinstance(form, dict):
        return {key: _filled(each, seed, values) for key, each in form.items()}
    if isinstance(form, list):
        return [_filled(each, seed, values) for each in form]

    def value(mark: re.Match[str]) -> str:
        values.append(_value(mark[1], int(mark[2]), f"{seed} {len(values)}"))
        return values[-1]

    return _MARK.sub(value, form)


def _copies(seed: str) -> Iterator[PlantedSecret]:
    """A variable's value, which a log repeats in another writing."""
    writings: dict[str, Callable[[str], str]] = {
        "as base64": lambda value: base64.b64encode(value.encode()).decode(),
        "in base64 of more": lambda value: base64.b64encode(f"shop:{value}".encode()).decode(),
        "as part of an address": lambda value: quote(value, safe=""),
    }
    for name, write in writings.items():
        value = f"{_value('word', 9, name)}#/{_value('word', 9, seed)}"
        written = write(value)
        log = f"the answer repeats it: {written} in the text"
        variable = {"name": "SHOP", "value": value}
        yield PlantedSecret(name, {"env": [variable], "message": log}, (value, written[8:-4]))


FORMS: Final[tuple[Any, ...]] = (
    # headers
    "GET /orders HTTP/1.1 Authorization: ApiKey <b64:44>",
    "> authorization: Token <hex:40>",
    "x-api-key: <alnum:32>",
    "X-Amz-Security-Token: <b64:120>",
    "Proxy-Authorization: Basic <b64:28>",
    "Cookie: theme=dark; session=<alnum:32>; lang=en",
    "Set-Cookie: JSESSIONID=<HEX:32>; Path=/; HttpOnly",
    "Authorization: AWS4-HMAC-SHA256 Credential=AKIA<upper:16>/20261128/eu/s3, Signature=<hex:64>",
    'Authorization: Digest username="shop", realm="orders", uri="/", response="<hex:32>"',
    "X-Vault-Token: hvs.<alnum:90>",
    "Ocp-Apim-Subscription-Key: <hex:32>",
    "{Accept=[*/*], X-Auth-Key=[<hex:37>], Host=[orders]}",
    "headers={'PRIVATE-TOKEN': '<alnum:20>', 'accept': '*/*'}",
    # addresses
    "cannot connect to amqp://shop:<word:7>@<word:8>@rabbit:5672/%2f",
    "connecting to mongodb+srv://shop:<symbols:14>@cluster0.example/orders?retryWrites=true",
    "url=jdbc:postgresql://db:5432/orders?user=shop&password=<alnum:14>",
    "jdbc:sqlserver://db:1433;databaseName=orders;user=shop;password={<symbols:14>};encrypt=true",
    "jdbc:oracle:thin:shop/<alnum:12>@//db:1521/ORCL could not be reached",
    "https://<alnum:40>:x-oauth-basic@git.example/shop.git",
    "POST https://hooks.slack.com/services/T<upper:9>/B<upper:9>/<alnum:24> 404",
    "POST https://discord.com/api/webhooks/112233445566778899/<b64url:68>",
    "GET https://blob.example/c/x?sv=2024-11-04&se=2026-12-01&sig=<alnum:44>%3D",
    "https://bucket.s3.example/x?X-Amz-Expires=300&X-Amz-Signature=<hex:64>",
    "https://maps.example/api?q=street&key=AIza<alnum:35>",
    "POST https://api.telegram.org/bot1234567890:<alnum:35>/sendMessage",
    "wss://stream.example/ws?access_token=<alnum:40>&v=2",
    "GET /callback?code=<alnum:32>&state=ok",
    "https://shop.example/reset-password/<alnum:32>",
    "DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=<b64:86>==;EndpointSuffix=core.example",
    "Endpoint=sb://shop.example/;SharedAccessKeyName=Root;SharedAccessKey=<b64:43>=",
    "sentry dsn https://<hex:32>@o12345.ingest.example/42",
    "//registry.example/:_authToken=<alnum:36>",
    # tokens of services
    "charging with sk_live_<alnum:24> failed",
    "publish denied for npm_<alnum:36>",
    "mailer uses SG.<alnum:22>.<alnum:43>",
    "refreshed, got ya29.<b64url:60> for an hour",
    "openai: incorrect key provided: sk-proj-<alnum:48>",
    "anthropic client sk-ant-api03-<b64url:93>",
    "socket mode with xapp-1-A<upper:10>-1234567890123-<hex:64>",
    "gitlab runner glrt-<alnum:20> is gone",
    "droplet api dop_v1_<hex:64> answered 401",
    "shopify shpat_<hex:32> answered 403",
    "upload with pypi-AgEIcHlwaS5vcmc<b64url:80>",
    "databricks dapi<hex:32> is expired",
    "hub login hf_<alnum:34> invalid",
    "session eyJ<b64url:30>.eyJ<b64url:60>.<b64url:43> is over",
    "role assumed with ASIA<upper:16>",
    "pull with dckr_pat_<b64url:27> denied",
    "age identity AGE-SECRET-KEY-1<upper:58>",
    "new relic says NRAK-<upper:27> is unknown",
    "google oauth 1//0<b64url:60> was revoked",
    "mailgun key-<hex:32> rejected",
    "twilio SK<hex:32> / <hex:32> rejected",
    # sentences
    "FATAL: login of shop with password '<symbols:12>' failed",
    "the password is <word:11> for now",
    "wrong password <symbols:13> for user shop",
    "temporary password for shop: <alnum:10>",
    "using credentials shop / <alnum:16>",
    "client secret <hex:32> was rejected by the issuer",
    "CREATE USER shop WITH PASSWORD '<symbols:12>' LOGIN",
    "CREATE USER 'shop'@'%' IDENTIFIED BY '<alnum:12>'",
    "token=[<alnum:32>] has expired",
    # YAML
    "sasl:\n  password: |\n    <word:12>\n  username: shop\n",
    'sasl.jaas.config: >-\n  ScramLoginModule required\n  username="shop"\n  password="<alnum:14>";\n',
    "kind: Secret\ndata:\n  db: <b64:24>\n  host: <b64:16>\n",
    "kind: Secret\nstringData:\n  anything: <word:12>\n",
    "  .dockerconfigjson: <b64:120>",
    "users:\n- name: shop\n  user:\n    client-key-data: <b64:200>\n",
    "env:\n- name: DB_CREDENTIALS\n  value: <alnum:14>\n- name: LEVEL\n  value: info\n",
    "db_password: !vault <alnum:30>",
    # XML
    "<server><id>shop</id><password><alnum:14></password></server>",
    '<property name="password" value="<alnum:14>"/>',
    "<property><name>fs.s3a.secret.key</name><value><b64:40></value></property>",
    '<add key="ApiKey" value="<alnum:24>" />',
    '<wsse:Password Type="x#PasswordText"><alnum:14></wsse:Password>',
    # JSON
    '{"auths":{"registry.example":{"auth":"<b64:32>"}}}',
    'answer: {\\"client_secret\\":\\"<alnum:32>\\",\\"ok\\":true}',
    'key file {"type":"service_account","private_key":"-----BEGIN PRIVATE KEY-----\\\\n<b64:64>\\\\n"}',
    'parameters: [{"key":"password","value":"<alnum:14>"}]',
    'got {"headers":[["authorization","Bearer <alnum:24>"],["accept","*/*"]]}',
    "row {'user': 'shop', 'pwd': '<symbols:12>'}",
    'jwk {"kty":"oct","kid":"1","k":"<b64url:43>"}',
    # command lines
    "+ mysql -h db -u shop -p<alnum:12> orders",
    "+ curl -s -u shop:<alnum:14> https://orders.example/",
    "+ redis-cli -h cache -a <alnum:20> ping",
    "+ docker login -u shop -p <alnum:20> registry.example",
    "+ kcat -b kafka:9092 -X sasl.password=<alnum:16> -L",
    "java -Djavax.net.ssl.keyStorePassword=<alnum:10> -jar app.jar",
    "+ PGPASSWORD=<alnum:12> psql -h db",
    "openssl pkcs12 -in k.p12 -passin pass:<alnum:12>",
    # stack traces
    "ConfigException: Invalid value <alnum:14> for configuration sasl.password: it is too short",
    "settings.db_password\n  Input should be longer [type=x, input_value='<alnum:12>', input_type=str]",
    '  File "app.py", line 3, in main\n    connect(host="db", passwd="<symbols:12>")',
    # objects
    {"options": {"url": "db", "pw": "<alnum:12>", "hmac": "<hex:32>", "salt": "<word:10>"}},
    {"containers": [{"command": ["sh", "-c", "curl -H 'X-Shop: <alnum:24>' http://orders"]}]},
    {"containers": [{"args": ["-u", "shop", "-p", "<word:10>"]}]},
    {"httpHeaders": [{"name": "X-Probe-Key", "value": "<word:10>"}]},
)

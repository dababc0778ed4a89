from streamapp_runtime.driver.app_refusal import AppRefusedError as AppRefusedError
from streamapp_runtime.testing.in_process_app import InProcessApp
from streamapp_runtime.testing.kit_errors import AppFailedError as AppFailedError
from streamapp_runtime.testing.kit_errors import WrongUseError as WrongUseError
from streamapp_runtime.testing.row_diff import Rows as Rows
from streamapp_runtime.testing.row_diff import assert_rows as assert_rows

TestApp = InProcessApp

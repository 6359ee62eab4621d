// What can be typed after `--against` and `--in`; apart from what does it, so that --help loads nothing.

/** Hours that are searched when none are given. */
export const DEFAULT_HOURS = '24'

export const SOURCE_USAGE = 'jaeger[=URL], tempo[=URL] (their query APIs) or file=PATH (OTLP/JSON, one request a line)'

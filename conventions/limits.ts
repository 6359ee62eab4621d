// Limits of the written contract, each with its unit and its reason.

/** Bytes. Record and signature must fit one 1,900-byte span attribute (Tempo cuts attributes at 2,048). */
export const MAX_RECORD_BYTES = 1_300

/** Bytes. Hard limit of one log entry; a C2SP tlog-tiles entry is at most 65,535. */
export const MAX_ENTRY_BYTES = 60_000

/** Levels. Deeper JSON is refused: no real payload nests like this, and readers recurse. */
export const MAX_JSON_DEPTH = 64

/** Bytes. One hook payload; the largest real ones carry whole files and stay under 6 MB. */
export const MAX_HOOK_BYTES = 16 * 1024 * 1024

/** Bytes after decompression. The OTLP specification recommends 64 MiB. */
export const MAX_OTLP_BYTES = 64 * 1024 * 1024

/** Characters. Ids come from the agent and stay readable in records; longer ones are refused, never cut. */
export const MAX_ID_CHARS = 128

/** Rule ids listed in a record body; a decision that matched more keeps the whole list behind a commitment. */
export const MAX_RULES_IN_BODY = 8

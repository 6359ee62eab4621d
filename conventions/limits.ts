// Limits of the written contract, each with its unit and its reason.

/** Bytes. Record and signature then fit one 1,900-character span attribute (Tempo cuts attributes at 2,048); nearly all do. */
export const SHORT_RECORD_BYTES = 1_300

/** Bytes. Record and signature fit three such attributes: what the longest ids and names need. */
export const MAX_RECORD_BYTES = 4_000

/** Bytes. Hard limit of one log entry; a C2SP tlog-tiles entry is at most 65,535. */
export const MAX_ENTRY_BYTES = 60_000

/** Levels. Deeper JSON is refused: no real payload nests like this, and readers recurse. */
export const MAX_JSON_DEPTH = 64

/** Bytes. One hook payload; the largest real ones carry whole files and stay under 6 MB. */
export const MAX_HOOK_BYTES = 16 * 1024 * 1024

/** Bytes after decompression. The OTLP specification recommends 64 MiB. */
export const MAX_OTLP_BYTES = 64 * 1024 * 1024

/** Characters. Ids come from the agent and stay readable in records; longer ones are refused, never cut. Real ones stay below 60. */
export const MAX_ID_CHARS = 80

/** Characters. Names of tools, models and kinds; model providers allow tool names of 128. */
export const MAX_NAME_CHARS = 128

/** Characters of a policy rule's id: eight of them must fit into a record beside the longest ids. */
export const MAX_RULE_ID_CHARS = 32

/** Rule ids listed in a record body; a decision that matched more keeps the whole list behind a commitment. */
export const MAX_RULES_IN_BODY = 8

/** Imported sessions listed in a record body: one request rarely speaks of more than one. */
export const MAX_SESSIONS_IN_BODY = 8

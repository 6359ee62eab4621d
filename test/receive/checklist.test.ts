// The conformance checklist of OTLP, all 32 rows: what each asks, what was decided where specification and Collector differ or leave
// it open, and the tests that hold it. A row whose test is gone or renamed fails here.
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const E2E = 'test/e2e/otlp.test.ts'
const APP = 'test/receive/otlp-app.test.ts'
const DECODE = 'test/receive/otlp-decode.test.ts'
const GRPC = 'test/receive/otlp-grpc.test.ts'
const GRPC_E2E = 'test/e2e/otlp-grpc.test.ts'
const FIRST = [E2E, '1, 2, 4, 5, 20: encodings and gzip at %s'] as const

/** Title of a test, in this file of tests. */
type Shown = readonly [file: string, title: string]

const ROWS: readonly (readonly [row: number, asked: string, decided: string, ...shown: Shown[]])[] = [
  [1, 'protobuf, uncompressed', '200, x-protobuf, the response decodes', FIRST, [E2E, '$id']],
  [2, 'protobuf and JSON, gzip', '200', FIRST, [APP, '$name: whole, with its counts and services']],
  [3, 'zstd and others', 'not taken: 400 that names it', [E2E, '3: zstd is not taken']],
  [4, 'application/json; charset=utf-8', '200', FIRST],
  [5, 'APPLICATION/JSON', '200', FIRST],
  [6, 'no Content-Type', '415 in plain text, like the Collector', [E2E, '6, 7, 8: type and method at %s']],
  [7, 'unknown Content-Type', '415 in plain text', [E2E, '6, 7, 8: type and method at %s']],
  [8, 'GET, PATCH', '405 in plain text', [E2E, '6, 7, 8: type and method at %s']],
  [9, 'JSON 1234', '400 with a Status', [E2E, '9: JSON that is no object at %s']],
  [10, 'JSON that says gzip and is not', '400 with a Status', [E2E, '10, 11: says gzip, is not']],
  [11, 'protobuf that says gzip and is not', '400 with a Status', [E2E, '10, 11: says gzip, is not']],
  [12, 'unknown Content-Encoding', '400', [E2E, '12: an unknown Content-Encoding, with no Content-Type in JSON']],
  [
    13,
    'the pipeline refuses',
    '503, UNAVAILABLE, its message kept',
    [APP, 'that refuses is answered 503 with its message and Retry-After, in both encodings'],
    ['test/receive/imports.test.ts', 'a full disk and a log that can’t be written are for later, never for good'],
  ],
  [
    14,
    'the pipeline refuses for good',
    'never 500: a client would throw its data away; 503',
    [APP, 'that throws is told to onFault and answered 503, never 500'],
  ],
  [
    15,
    'the pipeline gives a gRPC status',
    'it gives none: what it says is taken or later; each refusal has one Status in both protocols',
    [APP, '$id'],
    [GRPC, 'for good: INVALID_ARGUMENT with the field, and no RetryInfo'],
  ],
  [
    16,
    'RetryInfo with 429 or 503',
    'Retry-After in seconds, rounded up; RetryInfo over gRPC',
    [APP, 'that refuses is answered 503 with its message and Retry-After, in both encodings'],
    [APP, 'over all requests is bounded: 429 with Retry-After, and room again afterwards'],
    [GRPC, 'for now: UNAVAILABLE with RetryInfo, rounded up'],
  ],
  [
    17,
    'no RetryInfo',
    'no Retry-After with what a client may not send again',
    [APP, 'no Retry-After with what may not be sent again'],
  ],
  [
    18,
    'a body of the limit, and one byte over',
    'the specification’s 64 MiB and 413, not the Collector’s 20 MiB and 400',
    [E2E, '18, 19: 64 MiB exactly, one byte over, and what unpacks to more'],
    [APP, 'is exact before and after decompression'],
  ],
  [
    19,
    'gzip of more than the limit',
    '413',
    [E2E, '18, 19: 64 MiB exactly, one byte over, and what unpacks to more'],
    ['test/receive/otlp-socket.test.ts', 'a decompression bomb is refused without being unpacked'],
  ],
  [20, 'no spans', '200, nothing passed on', FIRST, [APP, '$id']],
  [
    21,
    'unknown fields',
    'ignored, 200',
    [E2E, '21, 22, 25, 26: what JSON may hold'],
    [DECODE, 'ignores unknown keys and null, keeps unknown enum numbers'],
  ],
  [22, 'int64 as text or number', 'exact; 400 for what is none', [E2E, '21, 22, 25, 26: what JSON may hold']],
  [
    23,
    'an id of another length, or not hex',
    '400 for the request',
    [E2E, '23: an id of another length costs the request, in every signal'],
  ],
  [
    24,
    'ids of zeroes',
    'that span is rejected, in the partial success',
    [DECODE, 'that are missing or zero, and a missing name, cost only their span'],
    [E2E, '$id'],
  ],
  [
    25,
    'snake_case keys',
    'taken',
    [E2E, '21, 22, 25, 26: what JSON may hold'],
    [DECODE, 'takes snake_case keys, enum names and ids in any case'],
  ],
  [
    26,
    'names of enumerations',
    'taken',
    [E2E, '21, 22, 25, 26: what JSON may hold'],
    [DECODE, 'takes snake_case keys, enum names and ids in any case'],
  ],
  [
    27,
    'gRPC: taken, refused, refused for good',
    'OK, UNAVAILABLE with RetryInfo; never INTERNAL, which means drop',
    [GRPC, '$name, plain and gzip'],
    [GRPC, 'for now: UNAVAILABLE with RetryInfo, rounded up'],
    [GRPC, 'a fault of ours is UNAVAILABLE, told to onFault, and says nothing of it'],
  ],
  [
    28,
    'gRPC: a message over the limit',
    'the limit is HTTP’s, not 4 MiB; RESOURCE_EXHAUSTED without RetryInfo',
    [GRPC, 'too large, before and after decompression: RESOURCE_EXHAUSTED without RetryInfo'],
  ],
  [
    29,
    'the port is taken',
    'the collector starts without OTLP, since hooks come first; said, recorded, and doctor fails',
    [E2E, 'costs OTLP and nothing else, is recorded, and another port works'],
    [GRPC_E2E, 'a port that another program has costs gRPC and nothing else, and is recorded'],
    ['test/cli/doctor.test.ts', 'an OTLP port that another program has: a failure, exit 1, while hooks work on'],
  ],
  [
    30,
    'shutdown under traffic',
    'what was answered 200 is on disk, and nothing comes after',
    [E2E, '30: what comes while it stops is either on disk or not answered 200'],
    [GRPC_E2E, 'calls under way when it stops are either on disk or not answered OK'],
  ],
  [
    31,
    'default bind',
    'loopback, 4318; gRPC off, and on loopback 4317 where asked for',
    [E2E, '31, 32: listens on loopback, and to no web page'],
    [GRPC_E2E, 'is off unless it is asked for, and then on loopback; what comes in is receipt only'],
  ],
  [32, 'CORS', 'off; there is no setting for it', [E2E, '31, 32: listens on loopback, and to no web page']],
]

it('has its 32 rows, in order', () => {
  expect(ROWS.map(([row]) => row)).toEqual(Array.from({ length: 32 }, (_, i) => i + 1))
})

it.each(ROWS.map(([row, asked, , ...shown]) => ({ row, asked, shown })))('$row: $asked', ({ shown }) => {
  expect(shown.length).toBeGreaterThan(0)
  for (const [file, title] of shown) {
    const text = readFileSync(file, 'utf8')
    // What a test begins with: `it('title'`, or a table of cases on one line before it.
    const begin = new RegExp(`\\b(?:it|test)(?:\\.each\\([^\\n]*\\))?\\(\\s*(['"])${escaped(title)}\\1`)
    expect(begin.test(text), `${file} has no test ${title}`).toBe(true)
    expect(text, file).not.toMatch(/\b(?:it|test|describe)\.(?:skip|todo|only|fails)\b/)
  }
})

const escaped = (text: string) => text.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&')

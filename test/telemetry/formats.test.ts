// One collection, three formats: Prometheus text, OpenMetrics, OTLP. The same numbers under the registry's names.
import { expect, it } from 'vitest'
import { type Looked, Metrics } from '../../collector/telemetry/metrics.ts'
import { metricsRequest } from '../../collector/telemetry/otlp.ts'
import { exposition } from '../../collector/telemetry/prometheus.ts'

const target = {
  attributes: { 'service.name': 'spanseal-collector', 'service.instance.id': 'ab'.repeat(16) },
  starts: { log: 1_000, destination: 1_000, process: 2_500 },
}
const looked: Looked[] = [
  ['spanseal.ready', 1],
  ['spanseal.approval.oldest', 2.5],
  ['spanseal.claims', 3, 'refused'],
]

function sample() {
  const metrics = new Metrics()
  metrics.counter('spanseal.decisions').add(2, 'claude-code', 'a"b\\c\nd', 'deny', 'enforce')
  metrics.counter('spanseal.approvals').add(1, 'timeout')
  for (const seconds of [0.00005, 0.0002, 7]) metrics.histogram('spanseal.gate.duration').observe(seconds)
  metrics.histogram('spanseal.approval.wait').observe(1, 'approve')
  return metrics.collect(looked)
}

it('Prometheus text: suffixes, escapes, cumulative buckets, absent labels left out', () => {
  const lines = exposition(sample(), target, false).split('\n')
  expect(lines).toEqual(
    expect.arrayContaining([
      'target_info{service_name="spanseal-collector",service_instance_id="abababababababababababababababab"} 1',
      '# TYPE spanseal_decisions_total counter',
      'spanseal_decisions_total{gen_ai_agent_name="claude-code",gen_ai_tool_name="a\\"b\\\\c\\nd",spanseal_decision="deny",spanseal_mode="enforce"} 2',
      'spanseal_approvals_total{spanseal_approval_answer="timeout"} 1',
      'spanseal_gate_duration_seconds_bucket{le="0.00005"} 1',
      'spanseal_gate_duration_seconds_bucket{le="0.00025"} 2',
      'spanseal_gate_duration_seconds_bucket{le="0.1"} 2',
      'spanseal_gate_duration_seconds_bucket{le="+Inf"} 3',
      'spanseal_gate_duration_seconds_count 3',
      'spanseal_approval_oldest_seconds 2.5',
      'spanseal_claims_total{spanseal_outcome="refused"} 3',
    ]),
  )
  expect(lines.filter((line) => line.includes('_created'))).toEqual([])
})

it('OpenMetrics: units, the time each counter began, an end', () => {
  const text = exposition(sample(), target, true)
  for (const line of [
    '# TYPE spanseal_decisions counter',
    '# UNIT spanseal_gate_duration_seconds seconds',
    'spanseal_approvals_created{spanseal_approval_answer="timeout"} 1',
    'spanseal_gate_duration_seconds_created 2.5',
    'spanseal_approval_wait_seconds_bucket{spanseal_approval_answer="approve",le="1.0"} 1',
  ]) {
    expect(text).toContain(`${line}\n`)
  }
  expect(text.endsWith('# EOF\n')).toBe(true)
})

it('OTLP: cumulative, monotonic sums with their own start, 64-bit numbers as strings', () => {
  const request = JSON.parse(JSON.stringify(metricsRequest(sample(), target, 5_000, '1.2.3')))
  const [resource] = request.resourceMetrics
  expect(resource.resource.attributes).toContainEqual({
    key: 'service.instance.id',
    value: { stringValue: 'ab'.repeat(16) },
  })
  const metric = (name: string) => resource.scopeMetrics[0].metrics.find((each: { name: string }) => each.name === name)
  expect(metric('spanseal.decisions')).toMatchObject({
    unit: '{decision}',
    sum: {
      aggregationTemporality: 2,
      isMonotonic: true,
      dataPoints: [{ startTimeUnixNano: '1000000000', timeUnixNano: '5000000000', asInt: '2' }],
    },
  })
  const [wait] = metric('spanseal.gate.duration').histogram.dataPoints
  expect(wait).toMatchObject({ count: '3', startTimeUnixNano: '2500000000' })
  expect(wait.bucketCounts).toHaveLength(wait.explicitBounds.length + 1)
  expect(metric('spanseal.ready').gauge.dataPoints).toEqual([
    { attributes: [], timeUnixNano: '5000000000', asInt: '1' },
  ])
  // Seconds stay doubles also when they happen to be whole: a series keeps one kind of number.
  expect(metric('spanseal.approval.oldest').gauge.dataPoints[0].asDouble).toBe(2.5)
})

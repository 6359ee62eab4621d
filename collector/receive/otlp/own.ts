// The collector's own telemetry that comes back to it, by way of a backend or a forwarder of somebody else's: acknowledged and
// counted, never recorded as someone's word.
import { ATTR_SPANSEAL_LOG_ID } from '../../../conventions/attributes.ts'
import type { Item } from '../../../conventions/dialects/item.ts'
import type { KeyValue } from '../../../conventions/otlp.ts'

/** Whether an item names this log, on itself or on its resource. Asked before reserved attributes are taken out. */
export function isOwn(item: Item, logId: string): boolean {
  return names(item.resource, logId) || names(attributesOf(item), logId)
}

/** An item's own attributes. */
export function attributesOf(item: Item): readonly KeyValue[] {
  const { attributes = [] } = item.signal === 'span' ? item.span : item.signal === 'log' ? item.log : item.point
  return attributes
}

function names(attributes: readonly KeyValue[], logId: string): boolean {
  return attributes.some(
    ({ key, value }) =>
      key === ATTR_SPANSEAL_LOG_ID && value !== undefined && 'stringValue' in value && value.stringValue === logId,
  )
}

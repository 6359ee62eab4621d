// Makes Grafana's JSON of the panels: `npm run generate` writes dashboards/grafana/*.json.

import { ReduceDataOptionsBuilder } from '@grafana/grafana-foundation-sdk/common'
import * as grafana from '@grafana/grafana-foundation-sdk/dashboard'
import { ThresholdsMode } from '@grafana/grafana-foundation-sdk/dashboard'
import { DataqueryBuilder, PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus'
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat'
import { PanelBuilder as TableBuilder } from '@grafana/grafana-foundation-sdk/table'
import { PanelBuilder as TimeseriesBuilder } from '@grafana/grafana-foundation-sdk/timeseries'
import { DASHBOARDS, type Dashboard, type Panel } from './panels.ts'

/** The datasource of dashboards/grafana/provisioning: by its fixed uid, so that nothing has to be chosen on import. */
const PROMETHEUS = { type: 'prometheus', uid: 'prometheus' }
/** Grafana's grid is 24 columns wide. */
const COLUMNS = 24
const HEIGHT = { stat: 5, timeseries: 8, table: 8 } as const

/** Path from the project's root and text of each dashboard. */
export function dashboardFiles(): [path: string, text: string][] {
  return DASHBOARDS.map((dashboard) => [
    `dashboards/grafana/${dashboard.uid.replace('spanseal-', '')}.json`,
    `${JSON.stringify(build(dashboard), null, 2)}\n`,
  ])
}

function build({ uid, title, rows }: Dashboard): grafana.Dashboard {
  const builder = new grafana.DashboardBuilder(title)
    .uid(uid)
    .tags(['spanseal'])
    .time({ from: 'now-24h', to: 'now' })
    .refresh('1m')
    .readonly()
    .withVariable(
      new grafana.QueryVariableBuilder('instance')
        .label('Machine')
        .datasource(PROMETHEUS)
        .query('label_values(spanseal_ready, instance)')
        .multi(true)
        .includeAll(true)
        .allValue('.+')
        .current({ text: ['All'], value: ['$__all'] })
        .refresh(grafana.VariableRefresh.OnTimeRangeChanged),
    )
  for (const [name, panels] of rows) {
    builder.withRow(new grafana.RowBuilder(name))
    // A row of equal panels, broken where they would get too narrow.
    const width = COLUMNS / Math.min(panels.length, 4)
    for (const panel of panels) builder.withPanel(panelOf(panel).span(Math.floor(width)).height(HEIGHT[panel.kind]))
  }
  return builder.build()
}

function panelOf(panel: Panel): StatBuilder | TableBuilder | TimeseriesBuilder {
  const builder = { stat: StatBuilder, table: TableBuilder, timeseries: TimeseriesBuilder }[panel.kind]
  const made = new builder()
    .title(panel.title)
    .datasource(PROMETHEUS)
    .unit(panel.unit ?? 'short')
  if (made instanceof StatBuilder) made.reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']))
  if (panel.about !== undefined) made.description(panel.about)
  if (panel.red !== undefined) {
    const steps = [
      { value: null, color: 'green' },
      { value: panel.red, color: 'red' },
    ]
    made.thresholds(new grafana.ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps(steps))
  }
  panel.queries.forEach(([promql, legend], i) => {
    const query = new DataqueryBuilder()
      .expr(promql)
      .refId(String.fromCharCode(65 + i))
      .legendFormat(legend)
    if (panel.kind === 'table') query.format(PromQueryFormat.Table)
    // Tables and single figures show what is now, the rest how it came to be.
    made.withTarget(panel.kind === 'timeseries' ? query.range() : query.instant())
  })
  return made
}

import { readDocument } from './documents.ts'

interface Panel {
  readonly id: number
  readonly type: 'row' | 'stat' | 'timeseries'
  readonly title: string
  readonly description?: string
  readonly datasource?: { readonly uid: string }
  readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number }
  readonly fieldConfig?: { readonly defaults: { readonly unit: string } }
  readonly targets?: readonly {
    readonly refId: string
    readonly expr: string
    readonly legendFormat: string
  }[]
}

interface Variable {
  readonly name: string
  readonly type: string
  readonly query: string | { readonly query: string }
}

export interface Dashboard {
  readonly schemaVersion: number
  readonly panels: readonly Panel[]
  readonly templating: { readonly list: readonly Variable[] }
}

export const readDashboard = (): Dashboard => JSON.parse(readDocument('deploy/grafana/jeton.json').text)

/** Every query with the title of its panel. */
export const queriesOf = ({ panels }: Dashboard): { title: string; expr: string }[] =>
  panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })))

/** Replaces the variables as Grafana does for a range of one minute and the choice "All". */
export const withVariables = (expr: string): string =>
  expr.replaceAll('$__rate_interval', '15s').replaceAll('$job', 'jeton').replaceAll('$project', '.*')

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import protobuf from 'protobufjs'

const PROTOS = fileURLToPath(new URL('./opentelemetry-proto', import.meta.url))
const SERVICE = 'opentelemetry/proto/collector/trace/v1/trace_service.proto'

/** The message that exporters send, from the published definitions. */
function requestType(): protobuf.Type {
  const root = new protobuf.Root()
  root.resolvePath = (_, target) => join(PROTOS, target)
  root.loadSync(SERVICE)
  return root.lookupType('opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest')
}

const TYPE = requestType()

type Attributes = Readonly<Record<string, unknown>>

export interface CollectedSpan {
  readonly traceId: string
  readonly spanId: string
  /** Empty for the first span of a trace. */
  readonly parentId: string
  readonly name: string
  readonly kind: string
  readonly attributes: Attributes
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[]
  readonly hasFailed: boolean
  readonly resource: Attributes
}

/** A collector that decodes what it gets, over a real socket. */
export interface Collector {
  readonly url: string
  readonly spans: CollectedSpan[]
  /** Every body as it came. */
  readonly bodies: Buffer[]
  readonly headers: Readonly<Record<string, unknown>>[]
  /** Whether it answers: it never does after a test has set this to false. */
  isAnswering: boolean
  close(): Promise<void>
}

export async function startCollector(): Promise<Collector> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks)
      collector.headers.push({ path: request.url, ...request.headers })
      collector.bodies.push(body)
      collector.spans.push(...decode(body))
      if (collector.isAnswering) response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const collector: Collector = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: [],
    bodies: [],
    headers: [],
    isAnswering: true,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return collector
}

type Value = { readonly stringValue?: string; readonly intValue?: string; readonly doubleValue?: number }
type KeyValues = readonly { readonly key: string; readonly value: Value }[]

interface SentSpan {
  readonly traceId: Buffer
  readonly spanId: Buffer
  readonly parentSpanId?: Buffer
  readonly name: string
  readonly kind: string
  readonly attributes?: KeyValues
  readonly links?: readonly { readonly traceId: Buffer; readonly spanId: Buffer }[]
  readonly status?: { readonly code?: string }
}

interface Sent {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: KeyValues }
    readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[]
  }[]
}

const plainValue = ({ stringValue, intValue, doubleValue }: Value): unknown =>
  stringValue ?? (intValue === undefined ? doubleValue : Number(intValue))

const attributesOf = (list: KeyValues = []): Attributes =>
  Object.fromEntries(list.map(({ key, value }) => [key, plainValue(value)]))

const hex = (bytes: Buffer | undefined): string => (bytes ? bytes.toString('hex') : '')

function decode(body: Buffer): CollectedSpan[] {
  const sent = TYPE.toObject(TYPE.decode(body), { longs: String, enums: String }) as Sent
  return sent.resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        traceId: hex(span.traceId),
        spanId: hex(span.spanId),
        parentId: hex(span.parentSpanId),
        name: span.name,
        kind: span.kind,
        attributes: attributesOf(span.attributes),
        links: (span.links ?? []).map((link) => ({ traceId: hex(link.traceId), spanId: hex(link.spanId) })),
        hasFailed: span.status?.code === 'STATUS_CODE_ERROR',
        resource: attributesOf(resource.attributes),
      })),
    ),
  )
}

/** Traces with the OpenTelemetry SDK. Imported on demand: without it, a process loads no package of OpenTelemetry. */
export { createTracer } from './create-tracer.ts'

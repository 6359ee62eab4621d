// An agent on the Vercel AI SDK with its own telemetry on: two tools, one of which fails. Arguments: URL of the model, URL for spans.
import { createOpenAI } from '@ai-sdk/openai'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'
import { generateText, stepCountIs, tool } from 'ai'
import * as z from 'zod'

const [model = '', traces = ''] = process.argv.slice(2)
const provider = new NodeTracerProvider({
  spanProcessors: [new SimpleSpanProcessor(new OTLPTraceExporter({ url: traces }))],
})
provider.register()

await generateText({
  model: createOpenAI({ baseURL: model, apiKey: 'not-a-key' }).chat('gpt-stub'),
  prompt: 'What is the weather in Paris, and what does missing.txt say?',
  stopWhen: stepCountIs(5),
  experimental_telemetry: { isEnabled: true, functionId: 'weather-agent', metadata: { sessionId: 'live-vercel' } },
  tools: {
    get_weather: tool({
      inputSchema: z.object({ city: z.string() }),
      execute: async ({ city }) => ({ city, sky: 'clear' }),
    }),
    read_file: tool({
      inputSchema: z.object({ path: z.string() }),
      execute: async ({ path }) => {
        throw new Error(`no such file: ${path}`)
      },
    }),
  },
})
await provider.shutdown()

// An agent on LangChain with OpenInference: two tools, one of which fails. Arguments: URL of the model, URL for spans.
import { LangChainInstrumentation } from '@arizeai/openinference-instrumentation-langchain'
import * as callbacks from '@langchain/core/callbacks/manager'
import { ChatOpenAI } from '@langchain/openai'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'
import { createAgent, tool } from 'langchain'
import * as z from 'zod'

const [model = '', traces = ''] = process.argv.slice(2)
const provider = new NodeTracerProvider({
  spanProcessors: [new SimpleSpanProcessor(new OTLPTraceExporter({ url: traces }))],
})
provider.register()
const instrumentation = new LangChainInstrumentation({ tracerProvider: provider })
instrumentation.manuallyInstrument(callbacks)

const getWeather = tool(async ({ city }) => JSON.stringify({ city, sky: 'clear' }), {
  name: 'get_weather',
  description: 'weather',
  schema: z.object({ city: z.string() }),
})
const readFile = tool(
  async ({ path }) => {
    throw new Error(`no such file: ${path}`)
  },
  { name: 'read_file', description: 'read', schema: z.object({ path: z.string() }) },
)
const llm = new ChatOpenAI({ model: 'gpt-stub', apiKey: 'not-a-key', configuration: { baseURL: model } })
const agent = createAgent({ name: 'weather_agent', model: llm, tools: [getWeather, readFile] })
const messages = [{ role: 'user', content: 'What is the weather in Paris, and what does missing.txt say?' }]
await agent.invoke({ messages }, { metadata: { session_id: 'live-langchain' } })
await provider.shutdown()

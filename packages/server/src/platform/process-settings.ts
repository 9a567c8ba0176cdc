/** What the process says of itself: its log, and traces: their receiver, and which requests have one. Beside the folder of the exporter, which is loaded only where it is used. */
import {
  ConfigError,
  choice,
  type EnvironmentOf,
  listed,
  number,
  optionalText,
  url,
  withoutSlash,
} from './settings.ts';

/** `name=value` pairs; a comma or a space in a value is percent-encoded. */
const PAIRS = '^[^=,\\s]+=[^,]*(,\\s*[^=,\\s]+=[^,]*)*$';

const variables = {
  OTEL_EXPORTER_OTLP_ENDPOINT: url(
    'Receiver of OpenTelemetry traces over OTLP/HTTP, such as `http://localhost:4318`; `/v1/traces` is added. Without a receiver there are no traces ([operations.md](operations.md#traces)).',
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url('The same, as the whole URL. Comes before the general one.'),
  OTEL_EXPORTER_OTLP_PROTOCOL: choice(
    ['http/json', 'http/protobuf'],
    'http/json',
    'JSON is sent in either case: receivers of OTLP/HTTP take both. With `grpc` the service does not start.',
  ),
  OTEL_EXPORTER_OTLP_HEADERS: optionalText(
    'Headers for the receiver of traces, such as its key: `name=value` pairs, comma-separated, values percent-encoded.',
    { pattern: PAIRS, values: 'pairs', secret: true },
  ),
  OTEL_SDK_DISABLED: optionalText('`true` turns traces off.'),
  OTEL_SERVICE_NAME: optionalText('Name of the service in traces.', { minLength: 1, unset: '`bellwether`' }),
  OTEL_RESOURCE_ATTRIBUTES: optionalText(
    'What every span says of this service, such as `deployment.environment.name=production`: `name=value` pairs, comma-separated, values percent-encoded.',
    { pattern: PAIRS, values: 'pairs' },
  ),
  OTEL_TRACES_SAMPLER: choice(
    [
      'parentbased_always_on',
      'parentbased_always_off',
      'parentbased_traceidratio',
      'always_on',
      'always_off',
      'traceidratio',
    ],
    'parentbased_always_on',
    'Which requests have a trace. With `parentbased_…` the caller’s `traceparent` decides where there is one.',
  ),
  OTEL_TRACES_SAMPLER_ARG: number(
    1,
    { minimum: 0, maximum: 1 },
    'Share of requests of the samplers `traceidratio` and `parentbased_traceidratio`.',
  ),
};

type Environment = EnvironmentOf<typeof variables>;

interface Tracing {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly resource: Readonly<Record<string, string>>;
  readonly sampler: Environment['OTEL_TRACES_SAMPLER'];
  readonly ratio: number;
}

export const tracingSettings = {
  variables,
  // Other programs read these names, too: only a letter too many or too few is taken for one of them.
  prefixes: [],
  make: (env: Environment) => ({
    /** `null`: no traces. */
    tracing: tracing(env),
  }),
};

/** The receiver's address for traces is taken as it is; the general one is where all signals go, each to its path. */
function tracing(env: Environment): Tracing | null {
  const general = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  const url =
    env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ??
    (general === undefined ? null : `${withoutSlash(general)}/v1/traces`);
  if (url === null || env.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return null;
  const resource = pairsIn('OTEL_RESOURCE_ATTRIBUTES', env);
  return {
    url,
    headers: pairsIn('OTEL_EXPORTER_OTLP_HEADERS', env),
    resource: {
      ...resource,
      'service.name': env.OTEL_SERVICE_NAME ?? resource['service.name'] ?? 'bellwether',
    },
    sampler: env.OTEL_TRACES_SAMPLER,
    ratio: env.OTEL_TRACES_SAMPLER_ARG,
  };
}

/** @throws ConfigError without the value, which may be a secret */
function pairsIn(
  name: 'OTEL_EXPORTER_OTLP_HEADERS' | 'OTEL_RESOURCE_ATTRIBUTES',
  env: Environment,
): Readonly<Record<string, string>> {
  const given = listed(env[name]).map((pair) => pair.trim().split('='));
  try {
    return Object.fromEntries(
      given.map(([key = '', ...value]) => [key, decodeURIComponent(value.join('=').trim())]),
    );
  } catch {
    throw new ConfigError(`${name} has a value with a broken percent-encoding; write a literal % as %25.`);
  }
}

// How much the process logs.

const logVariables = {
  LOG_LEVEL: choice(
    ['fatal', 'error', 'warn', 'info', 'debug', 'silent'],
    'info',
    'Least serious level that is logged, as JSON lines on standard error.',
  ),
};

export const systemSettings = {
  variables: logVariables,
  prefixes: ['LOG_LEVEL'],
  make: (env: EnvironmentOf<typeof logVariables>) => ({ logLevel: env.LOG_LEVEL }),
};

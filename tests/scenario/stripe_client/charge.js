// One charge by the stripe client as it is, and one line of JSON about what came of it.
//
//   node charge.js PORT '{"amount": 2000, "retries": 2, "timeout_ms": 5000, "key": "optional"}'
//
// {"charge": {…}, "replayed": …, "code": …, "tries": [{"key": …, "status": …}]}. A try that is repeated has no status.
'use strict';

const Stripe = require('stripe');

const port = Number(process.argv[2]);
const wanted = JSON.parse(process.argv[3]);

const stripe = new Stripe('sk_test_scenario', {
  host: '127.0.0.1',
  port,
  protocol: 'http',
  maxNetworkRetries: wanted.retries,
  timeout: wanted.timeout_ms,
  telemetry: false,
});

const tries = [];
stripe.on('request', (request) => tries.push({ key: request.idempotency_key, started: request.request_start_time }));
stripe.on('response', (response) => {
  const answered = tries.find((t) => t.started === response.request_start_time);
  answered.status = response.status;
});

const order = { amount: wanted.amount, currency: 'eur', source: 'tok_visa' };
// an empty options object is refused by the client
const options = wanted.key ? [{ idempotencyKey: wanted.key }] : [];

stripe.charges.create(order, ...options).then(
  (charge) => {
    const headers = charge.lastResponse.headers;
    console.log(JSON.stringify({
      charge,
      replayed: headers['idempotent-replayed'] ?? '',
      code: headers['idempotency-status'] ?? '',
      tries,
    }));
  },
  (error) => {
    console.log(JSON.stringify({ error: `${error.type}: ${error.message}`, tries }));
    process.exitCode = 1;
  },
);

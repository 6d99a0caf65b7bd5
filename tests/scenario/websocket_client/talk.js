// One conversation over WebSocket by the package ws, and one line of JSON about what came of it.
//
//   node talk.js ws://127.0.0.1:PORT/echo '{"end": "client"}'
//   node talk.js wss://127.0.0.1:PORT/echo '{"end": "server", "ca": "FILE", "name": "proxy.test"}'
//
// `end`: who ends it, "client" or "server" with a close code, or "drop" for a server that just goes away.
// {"protocol": …, "text": …, "binary": …, "large": …, "pong": …, "ponged": …, "closed": code, "reason": …}
'use strict';

const crypto = require('crypto');
const fs = require('fs');
const WebSocket = require('ws');

const wanted = JSON.parse(process.argv[3]);
const options = wanted.ca ? { ca: fs.readFileSync(wanted.ca), servername: wanted.name } : {};
const socket = new WebSocket(process.argv[2], ['first', 'second'], options);

const once = (event) => new Promise((resolve) => socket.once(event, (...all) => resolve(all)));

async function echo(data) {
  const answer = once('message');
  socket.send(data);
  const [back, binary] = await answer;
  const same = Buffer.compare(back, Buffer.from(data)) === 0;
  return same && binary === (typeof data !== 'string');
}

async function talk() {
  await once('open');
  const seen = { protocol: socket.protocol };
  seen.text = await echo('Gr\u00fc\u00dfe, \u4f60\u597d');
  seen.binary = await echo(Buffer.from([...Array(256).keys()]));
  // random, so that nothing on its way can have compressed it
  seen.large = await echo(crypto.randomBytes(1 << 20));
  const pong = once('pong');
  socket.ping('from the client');
  seen.pong = (await pong)[0].toString();
  const ponged = once('message');
  socket.send('ping me');
  seen.ponged = (await ponged)[0].toString();
  const closed = once('close');
  if (wanted.end === 'client') {
    socket.close(4000, 'enough');
  } else {
    socket.send(wanted.end === 'server' ? 'close me' : 'drop me');
  }
  const [code, reason] = await closed;
  console.log(JSON.stringify({ ...seen, closed: code, reason: reason.toString() }));
}

socket.on('error', (error) => console.log(JSON.stringify({ error: error.message })));
talk();

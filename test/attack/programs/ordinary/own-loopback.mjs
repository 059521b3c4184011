// Listens on a port of its own loopback and connects to it.
import net from 'node:net';

const server = net.createServer((socket) => socket.end('hello'));
server.on('error', stopped);
server.listen(3000, '127.0.0.1', () => {
  const socket = net.connect(3000, '127.0.0.1');
  socket.on('error', stopped);
  socket.on('data', () => {
    console.log('SUCCEEDED: connected');
    process.exit(0);
  });
});

function stopped(error) {
  console.log(`stopped: ${error.code}`);
  process.exit(1);
}

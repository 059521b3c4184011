export function login(user, password) {
  console.log('login', user, password);
  return user === 'admin' && password.length > 12;
}

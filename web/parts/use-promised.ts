/** What a promise gives, made anew whenever its key changes; undefined until then, and where it fails. */
import { useEffect, useState } from 'react';

export function usePromised<T>(key: string, make: () => Promise<T>): T | undefined {
  const [given, setGiven] = useState<{ key: string; value: T }>();
  useEffect(() => {
    let isStill = true;
    make().then(
      (value) => isStill && setGiven({ key, value }),
      () => {},
    );
    return () => {
      isStill = false;
    };
    // `make` is a new one each time; the key says what it makes
  }, [key]);
  return given?.key === key ? given.value : undefined;
}

"use client";
import { useEffect, useState } from "react";
import { useRequest } from "steadfetch/react";
import { client, words } from "../../lib/client.js";

export function Report({ url }) {
  const { state } = useRequest(client, url);
  const [text, setText] = useState("");
  const { response } = state;
  useEffect(() => {
    response?.clone().text().then(setText);
  }, [response]);
  return (
    <p id="page">
      {words(state)}
      {text && `: ${text}`}
    </p>
  );
}

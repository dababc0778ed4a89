SELECT bidder, count(*) AS bid_count, min(dateTime) AS starttime, max(dateTime) + INTERVAL 10 SECONDS AS endtime
FROM (
  SELECT bidder, dateTime, sum(begins) OVER (PARTITION BY bidder ORDER BY dateTime) AS session
  FROM (
    SELECT bidder, dateTime, CAST(
      dateTime - lag(dateTime) OVER (PARTITION BY bidder ORDER BY dateTime) > INTERVAL 10 SECONDS
    AS INT) AS begins FROM bid))
GROUP BY bidder, coalesce(session, 0)

WITH counts AS (
  SELECT auction, starttime, starttime + INTERVAL 10 SECONDS AS endtime, count(*) AS num
  FROM (
    SELECT auction, unnest(generate_series(
      time_bucket(INTERVAL 2 SECONDS, dateTime) - INTERVAL 8 SECONDS,
      time_bucket(INTERVAL 2 SECONDS, dateTime), INTERVAL 2 SECONDS)) AS starttime
    FROM bid)
  GROUP BY auction, starttime)
SELECT auction, num, starttime, endtime
FROM counts JOIN (SELECT endtime, max(num) AS maxnum FROM counts GROUP BY endtime) USING (endtime)
WHERE num >= maxnum
